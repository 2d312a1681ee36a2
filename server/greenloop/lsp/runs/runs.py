"""The list of runs, one for each target, and their queue: start, wait, cancel, discard.

It must not know how anything is shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from greenloop.core.records.spec import Target
from greenloop.lsp.state.run import Phase, Run
from greenloop.lsp.tasks import Tasks

# Maximum finished runs kept for hovers and later actions.
KEPT = 50


class Runs:
    """All runs of this server.

    `on_waiting` is called for each queued run whose position changed, for all of them inside `batch`. `on_list_changed`
    are called when a run was added or removed, or entered another phase; `on_changed` for every change of a run, even
    only of its status; `on_passed` with the ids of tests that passed before anything was changed.
    """

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self.on_waiting: Callable[[Run], None] = lambda _run: None
        self.batch: Callable[[], AbstractContextManager[None]] = nullcontext
        self.on_list_changed: list[Callable[[], None]] = []
        self.on_changed: list[Callable[[Run], None]] = []
        self.on_passed: list[Callable[[Path, set[str]], object]] = []
        self._runs: list[Run] = []
        self._queue: dict[Run, asyncio.Future[None]] = {}

    def __iter__(self) -> Iterator[Run]:
        """Iterates from the newest run to the oldest."""
        return reversed(self._runs)

    def notify_list_changed(self) -> None:
        """Reports that a run was added or removed, or entered another phase."""
        for callback in self.on_list_changed:
            callback()

    def notify_changed(self, run: Run) -> None:
        """Reports any change of a run."""
        for callback in self.on_changed:
            callback(run)

    def notify_passed(self, root: Path, cases: set[str]) -> None:
        """Reports tests of a folder that pass."""
        for callback in self.on_passed:
            callback(root, cases)

    def set_status(self, run: Run, status: str) -> None:
        run.progress.status = status
        self.notify_changed(run)

    def find(self, root: Path, path: str, qualname: str) -> Run | None:
        """The newest run that concerns a function or test; a run in progress comes first."""
        matching = [run for run in self if run.root == root and run.concerns(path, qualname)]
        return next((run for run in matching if run.running), matching[0] if matching else None)

    def by_name(self, root: Path) -> dict[tuple[str, str], Run]:
        """The result of `find` for every function and test that the runs of this folder concern."""
        runs = [run for run in self if run.root == root]
        newest_runs: dict[tuple[str, str], Run] = {}
        for run in sorted(runs, key=lambda run: not run.running):
            for concerned in run.concerned():
                newest_runs.setdefault(concerned, run)
        return newest_runs

    def find_running(self, root: Path, target: Target) -> Run | None:
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
        self._update_queue()
        self._tasks.spawn(drive(run))
        self.notify_list_changed()

    async def wait_turn(self, run: Run) -> None:
        """Returns when the run may begin: in order of arrival, `editor.runs` of them at once."""
        await self._queue[run]
        del self._queue[run]
        run.phase, run.progress.status, run.runs_ahead = Phase.REFINING, "", 0
        self.notify_list_changed()

    def release(self, run: Run) -> None:
        """Gives up the run's place in the queue, so that the next one may begin."""
        self._queue.pop(run, None)
        run.runs_ahead = 0
        self._update_queue()

    def _update_queue(self) -> None:
        with self.batch():
            waiting = [run for run, turn in self._queue.items() if not turn.done()]
            ahead = len(self._queue) - len(waiting) + sum(run.phase is Phase.REFINING for run in self._runs)
            has_room = True
            for run in waiting:
                # A run never overtakes another, although folders may set different limits.
                has_room = has_room and ahead < run.settings.editor.runs
                if has_room:
                    self._queue[run].set_result(None)
                elif run.runs_ahead != ahead:
                    run.runs_ahead, run.progress.status = ahead, f"waiting, {ahead} ahead of it"
                    self.on_waiting(run)
                    self.notify_list_changed()
                ahead += 1

    def restore(self, run: Run) -> None:
        """Adds a run of an earlier server as the oldest, unless its target already has a run."""
        is_taken = any((run.root, run.target.selector) == (old.root, old.target.selector) for old in self._runs)
        if not is_taken and len(self._runs) < KEPT:
            self._runs.insert(0, run)
            self.notify_list_changed()

    def discard(self, run: Run) -> None:
        if run in self._runs and not run.running:
            self._runs.remove(run)
            self.notify_list_changed()

    def cancel(self, is_meant: Callable[[Run], bool]) -> int:
        """Cancels the matching runs; returns how many."""
        return sum(run.cancel() for run in self._runs if is_meant(run))
