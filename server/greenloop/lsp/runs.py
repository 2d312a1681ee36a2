"""Runs under way and their results: one for each target. Queue, start, cancel, cancel all, end with the server.

A run owns its task and what is known of it so far; presenters read it. It must not know how anything is shown.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenloop.core.events import Checked, Event, Finished, Planned, Proposed, Specified, Started, Tested, Token
from greenloop.core.nouns import Attempt, Outcome, Spec, Target
from greenloop.lsp.questions import Question
from greenloop.settings import Settings

if TYPE_CHECKING:
    from greenloop.notebook import Prepared

log = logging.getLogger(__name__)

# Finished runs that are kept for hovers and later actions.
KEPT = 50
# Seconds that somebody who cancels waits for the cleaning up; it goes on afterwards.
GRACE = 1.0


class Phase(StrEnum):
    """`QUEUED`: it waits until others are done, and may be cancelled as one that is under way.

    `SETTLING`: the result is there, and the user is asked about it, or it is verified together with what was typed;
    who cancels that keeps the result. `LANDING`: it is on its way into the editor and can no longer be cancelled.
    """

    QUEUED = "queued"
    REFINING = "refining"
    SETTLING = "settling"
    LANDING = "landing"
    OVER = "over"


def short(target: Target) -> str:
    """A target's own name; of one that is a file, or is not found there, what it was asked by."""
    return target.qualname.rsplit(".", 1)[-1] or target.selector.rsplit("::", 1)[-1]


@dataclass(eq=False, kw_only=True)
class Run:
    """One request to refine one target, and everything that is known about it.

    `uri` is the document it was asked from, `open` that it was open then, `preset` one that was asked for instead of
    the settings', `early` that these were not all known yet, `began` seconds of the monotonic clock.
    `ahead` is how many runs there are before it, as long as it waits for its turn.
    `refused` is the sentence that ended it without an outcome, `refusal` the word for its kind; `applied` says that its
    result is in the text. `stepped` is the number of the attempt that the user wants to see, None: the newest.
    `specified` is what must hold as it was said last; `question` is the one it waits for.
    `proof`: the texts with which it was verified again, after others were typed. `doubted`: it is of an earlier
    server, and its tests are others now.
    `review`: the client shows the result to the user, who applies or discards it.
    `prepared` is what the engine was asked in a notebook.
    `overtaken`: its cases that ran again after it ended; how they ended then is shown in place of its attempts.
    `sent` holds, by path, the text that was to be replaced and the one to be put there; `landed` what really was.
    """

    root: Path
    target: Target
    uri: str
    settings: Settings
    began: float
    open: bool = False
    preset: str | None = None
    early: bool = False
    token: int | str | None = None
    phase: Phase = Phase.QUEUED
    ahead: int = 0
    started: Started | None = None
    specified: Specified | None = None
    question: Question | None = None
    attempts: list[Attempt] = field(default_factory=list)
    planned: Planned | None = None
    now: str = ""
    outcome: Outcome | None = None
    refused: str = ""
    refusal: str = ""
    stepped: int | None = None
    cancelled: bool = False
    review: bool = False
    applied: bool = False
    prepared: Prepared | None = None
    doubted: bool = False
    overtaken: set[str] = field(default_factory=set)
    proof: dict[str, str] = field(default_factory=dict)
    sent: dict[str, tuple[str, str]] = field(default_factory=dict)
    sent_at: float = 0.0
    landed: dict[str, tuple[str, str]] = field(default_factory=dict)
    ended: float = 0.0
    first_token: float = 0.0
    planned_at: float = 0.0
    pace: float = 0.0
    work: asyncio.Task[Any] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def name(self) -> str:
        return short(self.target)

    @property
    def result(self) -> str:
        """The name of what the run would put in."""
        regions = self.started.problem.regions if self.started else ()
        return regions[0].qualname if regions else self.name

    @property
    def running(self) -> bool:
        return self.phase is not Phase.OVER

    @property
    def cancellable(self) -> bool:
        return self.phase in (Phase.QUEUED, Phase.REFINING, Phase.SETTLING)

    @property
    def spec(self) -> Spec | None:
        """What must hold, as far as it is known by now."""
        if self.specified is not None:
            return self.specified.spec
        return self.started.problem.spec if self.started else None

    @property
    def limit(self) -> int:
        return self.started.attempts if self.started else self.settings.attempts

    @property
    def seconds(self) -> float:
        return (self.ended or time.monotonic()) - self.began

    @property
    def changes(self) -> dict[str, str]:
        """New text by path, of what the outcome would change."""
        if self.outcome is None:
            return {}
        before = self.outcome.before
        return {path: text for path, text in self.outcome.after.items() if before.get(path) != text}

    @property
    def offered(self) -> bool:
        """There is a result that is not in the text."""
        return not self.running and not self.applied and bool(self.changes)

    @property
    def gained(self) -> bool:
        """Whether the result is better than the user's own code: solved, or ahead by the tests that pass."""
        if self.outcome is None or self.outcome.solved:
            return self.outcome is not None
        scores = {attempt.number: attempt.verdict.score for attempt in self.attempts}
        return scores.get(self.outcome.best or 0, 0.0) > scores.get(0, 0.0)

    @property
    def shown(self) -> Attempt | None:
        """The attempt that diagnostics tell of, unless the user stepped to another: the newest.

        When a run is over that is the newest that was tested: what was refused unread says nothing of the tests.
        """
        told = [each for each in self.attempts if self.running or each.finding is None] or self.attempts
        chosen = [each for each in self.attempts if each.number == self.stepped]
        return next(iter(chosen or told[-1:]), None)

    @property
    def told(self) -> set[str]:
        """The cases that its diagnostics tell of: all that it has, but newer is how they ended since.

        Of an attempt that the user stepped to he wants to see what it said.
        """
        cases = {case.id for case in self.started.problem.spec.cases} if self.started else set()
        return cases if self.stepped is not None else cases - self.overtaken

    def concerns(self, path: str, qualname: str) -> bool:
        """Whether it is about this function or test."""
        return (path, qualname) in self.subjects()

    def subjects(self) -> Iterator[tuple[str, str]]:
        """What it is about, by path and qualified name: its target, the regions it may change, its cases."""
        yield self.target.path, self.target.qualname
        if self.started is not None:
            yield from ((region.path, region.qualname) for region in self.started.problem.regions)
            for case in self.started.problem.spec.cases:
                path, *names = case.id.split("[")[0].split("::")
                yield path, ".".join(names)

    def record(self, event: Event) -> None:
        match event:
            case Started():
                self.started, self.attempts, self.now = event, [event.baseline], ""
            case Specified():
                self.specified = event
            case Planned():
                self.planned, self.planned_at, self.first_token, self.now = event, time.monotonic(), 0.0, ""
            case Token():
                if not self.first_token and self.planned:
                    self.first_token = time.monotonic()
                    self.pace = self.planned.prompt_tokens / max(self.first_token - self.planned_at, 0.001)
                self.now = f"writing, {event.count} tokens"
            case Proposed():
                self.now = "reading the answer"
            case Checked():
                self.now = event.message if event.error_class else "testing"
            case Tested():
                known = len(self.attempts)
                event.into(self.attempts)
                if len(self.attempts) > known:
                    self.stepped = None
            case Finished():
                self.outcome = event.outcome

    def cancel(self) -> bool:
        """Whether there was anything to cancel. What is landing lands."""
        if not self.cancellable:
            return False
        self.cancelled = True
        if self.work is not None:
            self.work.cancel()
        return True


class Runs:
    """All runs of this server; its own set of tasks, so that nothing outlives a shutdown.

    `waiting` is called for each run in the queue when its place in there has changed, for all of them within
    `together`; those of `changed` when there is another run, or one has come further.
    """

    def __init__(self) -> None:
        self.waiting: Callable[[Run], None] = lambda _run: None
        self.together: Callable[[], AbstractContextManager[None]] = nullcontext
        self.changed: list[Callable[[], None]] = []
        self._runs: list[Run] = []
        self._queue: dict[Run, asyncio.Future[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[Run]:
        """The newest first."""
        return reversed(self._runs)

    def moved(self) -> None:
        """There is another run, or one has come further, or one is gone."""
        for tell in self.changed:
            tell()

    def find(self, root: Path, path: str, qualname: str) -> Run | None:
        """The newest run about a function or test; one under way wins."""
        concerned = [run for run in self if run.root == root and run.concerns(path, qualname)]
        return next((run for run in concerned if run.running), concerned[0] if concerned else None)

    def by_subject(self, root: Path) -> dict[tuple[str, str], Run]:
        """What `find` finds, for everything that runs of this folder are about."""
        runs = [run for run in self if run.root == root]
        found: dict[tuple[str, str], Run] = {}
        for run in sorted(runs, key=lambda run: not run.running):
            for subject in run.subjects():
                found.setdefault(subject, run)
        return found

    def same(self, root: Path, target: Target) -> Run | None:
        """The run under way for exactly this target."""
        key = (root, target.selector)
        return next((run for run in self if run.running and (run.root, run.target.selector) == key), None)

    def start(self, run: Run, drive: Callable[[Run], Coroutine[Any, Any, None]]) -> None:
        """Takes the place of the target's earlier run; `drive` is the whole of it, errors included.

        It awaits `turn` before it works, and calls `release` when it is done with that.
        """
        key = (run.root, run.target.selector)
        self._runs = [old for old in self._runs if (old.root, old.target.selector) != key or old.running]
        finished = [old for old in self._runs if not old.running]
        for old in finished[: max(len(finished) - KEPT + 1, 0)]:
            self._runs.remove(old)
        self._runs.append(run)
        self._queue[run] = asyncio.get_running_loop().create_future()
        self._admit()
        self.spawn(drive(run))
        self.moved()

    async def turn(self, run: Run) -> None:
        """Returns when the run may begin: first come, first served, `editor.runs` of them at once."""
        await self._queue[run]
        del self._queue[run]
        run.phase, run.now, run.ahead = Phase.REFINING, "", 0
        self.moved()

    def release(self, run: Run) -> None:
        """The run needs its place no longer: the next one may begin."""
        self._queue.pop(run, None)
        run.ahead = 0
        self._admit()

    def _admit(self) -> None:
        with self.together():
            self._admitted()

    def _admitted(self) -> None:
        waiting = [run for run, turn in self._queue.items() if not turn.done()]
        before = len(self._queue) - len(waiting) + sum(run.phase is Phase.REFINING for run in self._runs)
        free = True
        for run in waiting:
            # Nobody overtakes: folders may set limits of their own.
            free = free and before < run.settings.editor.runs
            if free:
                self._queue[run].set_result(None)
            elif run.ahead != before:
                run.ahead, run.now = before, f"waiting, {before} before it"
                self.waiting(run)
                self.moved()
            before += 1

    def bring_back(self, run: Run) -> None:
        """Takes in a run of an earlier server, as the oldest, unless there is one for its target already."""
        taken = any((run.root, run.target.selector) == (old.root, old.target.selector) for old in self._runs)
        if not taken and len(self._runs) < KEPT:
            self._runs.insert(0, run)
            self.moved()

    def discard(self, run: Run) -> None:
        if run in self._runs and not run.running:
            self._runs.remove(run)
            self.moved()

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Runs something in the background that ends with the server; its errors are logged."""

        async def guarded() -> None:
            try:
                await work
            except Exception:
                # The request edge: nobody awaits this.
                log.exception("A background task failed")

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Else Python complains of one that was cancelled before its first step.
        task.add_done_callback(lambda _task: work.close())
        return task

    def cancel(self, which: Callable[[Run], bool]) -> int:
        """How many runs were cancelled."""
        return sum(run.cancel() for run in self._runs if which(run))

    async def close(self) -> None:
        """Cancels everything and waits until it is cleaned up."""
        for task in list(self._tasks):
            # Cancelled twice, it would be torn out of its own cleaning up.
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
