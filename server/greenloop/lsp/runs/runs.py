"""Runs and their results, one for each target: queue, start, cancel, close with the server.

A run owns its task and its state so far; presenters read it. It must not know how anything is shown.
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
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.spec import Spec, Target
from greenloop.lsp.runs.questions import Question
from greenloop.project.settings import Settings

if TYPE_CHECKING:
    from greenloop.notebook.adapter import NotebookTarget

log = logging.getLogger(__name__)

# Maximum finished runs kept for hovers and later actions.
KEPT = 50
# Seconds that a cancelling client waits for the clean-up, which continues afterwards.
GRACE = 1.0


class Phase(StrEnum):
    """The phase of a run. `QUEUED`: it waits for other runs; it can be cancelled like a running one.

    `SETTLING`: the result exists, and the user is asked about it, or it is verified again with the user's edits;
    cancelling keeps the result. `LANDING`: the result is being sent to the editor, which cannot be cancelled.
    """

    QUEUED = "queued"
    REFINING = "refining"
    SETTLING = "settling"
    LANDING = "landing"
    OVER = "over"


def short(target: Target) -> str:
    """A target's own name; for a whole file or an unknown target, the requested selector."""
    return target.qualname.rsplit(".", 1)[-1] or target.selector.rsplit("::", 1)[-1]


@dataclass(eq=False, kw_only=True)
class Run:
    """One request to refine one target, and its state.

    `uri` is the document of the request, and `was_open` whether it was open then. `preset` is a requested one that
    replaces the settings'. `settings_pending`: the editor had not sent all settings yet. `began_at` is in seconds of
    the monotonic clock. `runs_ahead` counts the runs before it while it is queued.
    `refusal_message` is the sentence that ended it without an outcome, `refusal_code` its kind. `applied`: its result
    is in the text. `chosen_attempt` is the number of the attempt that the user wants to see; None: the newest.
    `specified` has the current tests; `question` is the one it waits for.
    `verified_texts` are those with which it was verified again, after the user's edits. `tests_changed`: it is a run of
    an earlier server, and its tests have changed since.
    `awaits_review`: the client shows the result to the user, who applies or discards it.
    `prepared` is the engine's input in a notebook.
    `superseded_cases` ran again after it ended; their new results are shown in place of its attempts'.
    `sent_texts` has, by path, the text to be replaced and its replacement; `applied_texts` those really applied.
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
    prepared: NotebookTarget | None = None
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
        """The name of the function that the run would change."""
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
        """The spec as far as it is known."""
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
        """New text by path of the files that the outcome changes."""
        if self.outcome is None:
            return {}
        before = self.outcome.before
        return {path: text for path, text in self.outcome.after.items() if before.get(path) != text}

    @property
    def offered(self) -> bool:
        """Whether there is a result that is not in the text."""
        return not self.running and not self.applied and bool(self.changes)

    @property
    def gained(self) -> bool:
        """Whether the result is better than the user's own code: solved, or with more passing tests."""
        if self.outcome is None or self.outcome.solved:
            return self.outcome is not None
        scores = {attempt.number: attempt.verdict.score for attempt in self.attempts}
        return scores.get(self.outcome.best or 0, 0.0) > scores.get(0, 0.0)

    @property
    def shown(self) -> Attempt | None:
        """The attempt shown in diagnostics: the user's choice, else the newest.

        After the end of a run it is the newest tested attempt: one rejected without running has no test results.
        """
        candidates = [each for each in self.attempts if self.running or each.finding is None] or self.attempts
        chosen_attempts = [each for each in self.attempts if each.number == self.stepped]
        return next(iter(chosen_attempts or candidates[-1:]), None)

    @property
    def told(self) -> set[str]:
        """The cases shown in its diagnostics: all except those that ran again since.

        For an attempt that the user chose, all its cases are shown.
        """
        cases = {case.id for case in self.started.problem.spec.cases} if self.started else set()
        return cases if self.stepped is not None else cases - self.overtaken

    def concerns(self, path: str, qualname: str) -> bool:
        """Whether the run concerns this function or test."""
        return (path, qualname) in self.subjects()

    def subjects(self) -> Iterator[tuple[str, str]]:
        """The run's target, the regions it may change, and its cases, as path and qualified name."""
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
                known_count = len(self.attempts)
                event.record_in(self.attempts)
                if len(self.attempts) > known_count:
                    self.stepped = None
            case Finished():
                self.outcome = event.outcome

    def cancel(self) -> bool:
        """Cancels the run; whether that was possible. A result that is being applied cannot be cancelled."""
        if not self.cancellable:
            return False
        self.cancelled = True
        if self.work is not None:
            self.work.cancel()
        return True


class Runs:
    """All runs of this server, and its background tasks, so that none outlives a shutdown.

    `on_waiting` is called for each queued run whose position changed, for all of them inside `batch`. `on_list_changed`
    are called when a run was added or removed, or entered another phase.
    """

    def __init__(self) -> None:
        self.waiting: Callable[[Run], None] = lambda _run: None
        self.together: Callable[[], AbstractContextManager[None]] = nullcontext
        self.changed: list[Callable[[], None]] = []
        self._runs: list[Run] = []
        self._queue: dict[Run, asyncio.Future[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[Run]:
        """Iterates from the newest run to the oldest."""
        return reversed(self._runs)

    def moved(self) -> None:
        """Reports that a run was added or removed, or entered another phase."""
        for callback in self.changed:
            callback()

    def find(self, root: Path, path: str, qualname: str) -> Run | None:
        """The newest run that concerns a function or test; a run in progress comes first."""
        matching = [run for run in self if run.root == root and run.concerns(path, qualname)]
        return next((run for run in matching if run.running), matching[0] if matching else None)

    def by_subject(self, root: Path) -> dict[tuple[str, str], Run]:
        """The result of `find` for every function and test that the runs of this folder concern."""
        runs = [run for run in self if run.root == root]
        newest_runs: dict[tuple[str, str], Run] = {}
        for run in sorted(runs, key=lambda run: not run.running):
            for subject in run.subjects():
                newest_runs.setdefault(subject, run)
        return newest_runs

    def same(self, root: Path, target: Target) -> Run | None:
        """The run in progress for exactly this target."""
        key = (root, target.selector)
        return next((run for run in self if run.running and (run.root, run.target.selector) == key), None)

    def start(self, run: Run, drive: Callable[[Run], Coroutine[Any, Any, None]]) -> None:
        """Starts a run, which replaces the target's earlier one; `drive` does all of it, errors included.

        `drive` awaits `wait_turn` before it works, and calls `release` afterwards.
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
        """Returns when the run may begin: in order of arrival, `editor.runs` of them at once."""
        await self._queue[run]
        del self._queue[run]
        run.phase, run.now, run.ahead = Phase.REFINING, "", 0
        self.moved()

    def release(self, run: Run) -> None:
        """Gives up the run's place in the queue, so that the next one may begin."""
        self._queue.pop(run, None)
        run.ahead = 0
        self._admit()

    def _admit(self) -> None:
        with self.together():
            self._admitted()

    def _admitted(self) -> None:
        waiting = [run for run, turn in self._queue.items() if not turn.done()]
        ahead = len(self._queue) - len(waiting) + sum(run.phase is Phase.REFINING for run in self._runs)
        has_room = True
        for run in waiting:
            # A run never overtakes another, although folders may set different limits.
            has_room = has_room and ahead < run.settings.editor.runs
            if has_room:
                self._queue[run].set_result(None)
            elif run.ahead != ahead:
                run.ahead, run.now = ahead, f"waiting, {ahead} before it"
                self.waiting(run)
                self.moved()
            ahead += 1

    def bring_back(self, run: Run) -> None:
        """Adds a run of an earlier server as the oldest, unless its target already has a run."""
        is_taken = any((run.root, run.target.selector) == (old.root, old.target.selector) for old in self._runs)
        if not is_taken and len(self._runs) < KEPT:
            self._runs.insert(0, run)
            self.moved()

    def discard(self, run: Run) -> None:
        if run in self._runs and not run.running:
            self._runs.remove(run)
            self.moved()

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Starts a background task that ends with the server; its errors are logged."""

        async def guarded() -> None:
            try:
                await work
            except Exception:
                # Request boundary: this task is not awaited.
                log.exception("A background task failed")

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Else Python warns about a task that was cancelled before its first step.
        task.add_done_callback(lambda _task: work.close())
        return task

    def cancel(self, which: Callable[[Run], bool]) -> int:
        """Cancels the matching runs; returns how many."""
        return sum(run.cancel() for run in self._runs if which(run))

    async def close(self) -> None:
        """Cancels all tasks and waits for their clean-up."""
        for task in list(self._tasks):
            # A second cancellation would interrupt the task's clean-up.
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
