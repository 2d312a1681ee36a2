"""One refinement, from its request to the result in the user's files. Programs, terminals and editors stand on it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from greenloop.api import history, result_files
from greenloop.api.pool import SandboxPool
from greenloop.api.result_files import DiskFiles, FileChange, Files, has_passed, may_write
from greenloop.api.state import SessionState
from greenloop.core.errors import UsageError
from greenloop.core.events import Event
from greenloop.core.ports import Model, NoUser, User
from greenloop.core.records.outcome import Noticed, Outcome, StopReason
from greenloop.core.records.problem import Problem
from greenloop.engine import after_run
from greenloop.engine import outcome as outcomes
from greenloop.engine import refine as default_engine
from greenloop.engine.history.unsolved_run import UnsolvedRun, read_unsolved_run
from greenloop.engine.refine import RefineRequest
from greenloop.engine.sandbox_spec import ignore_status
from greenloop.project.settings import Settings
from greenloop.verdict.beyond_tests.mutation_testing import report_lines


class RefineSession:
    """One refinement. Await `run()`, or iterate over `events()`; then `apply()` writes the result.

    `user` answers questions about generated tests; without one, or if its `can_answer` is False, nothing is asked.
    `model` is used in every role, whatever the settings name; `opener` opens the caller's own models by name; `pool`
    keeps the sandbox open for the next session. `report_status` gets the current step in one line while the baseline
    is measured, `on_event` gets each event after `state` has recorded it; the caller may pass its own `state`.
    `engine` replaces the engine in tests.
    """

    def __init__(
        self,
        request: RefineRequest,
        *,
        settings: Settings,
        user: User | None = None,
        model: Model | None = None,
        opener: Callable[[str, Settings], Model] | None = None,
        pool: SandboxPool | None = None,
        report_status: Callable[[str], None] = ignore_status,
        on_event: Callable[[Event], None] = lambda _event: None,
        state: SessionState | None = None,
        engine: Any = default_engine,
    ) -> None:
        self.request, self.user = request, user or NoUser()
        self.settings = settings_for(self.user, settings)
        self.state, self._engine = state or SessionState(), engine
        self._parts: dict[str, Any] = {"model": model, "opener": opener, "pool": pool}
        self._report_status, self._on_event = report_status, on_event
        self._task: asyncio.Task[Outcome] | None = None
        self._work: asyncio.Task[Any] | None = None
        self._passed_again: dict[str, bytes] = {}

    @property
    def problem(self) -> Problem | None:
        """The problem with its current tests; None if the run ended before the search began."""
        return self.state.problem

    @property
    def outcome(self) -> Outcome | None:
        """The outcome; None before the end."""
        return self.state.outcome

    async def run(self) -> Outcome:
        """Runs to the end. Call it once.

        Raises `UsageError` for a target that does not exist, `CannotVerifyError` if no sandbox or interpreter can be
        used, `ModelError` if a model is needed and none is there or its name or key is wrong, and `CancelledError`.
        """
        self._work = asyncio.current_task()
        outcome: Outcome = await self._engine.refine(
            self.request,
            settings=self.settings,
            emit=self._emit,
            report_status=self._report_status,
            user=self.user,
            **{name: part for name, part in self._parts.items() if part is not None},
        )
        self.state.outcome, self._work = outcome, None
        return outcome

    def start(self) -> asyncio.Task[Outcome]:
        """Starts the run in a task of the running loop, once; the task's result is the outcome."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self.run())
        return self._task

    async def events(self) -> AsyncIterator[Event]:
        """Starts the run if it has not begun, and yields its events to the last. Raises the same errors as `run`.

        Leaving the iteration cancels the run.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        listen = self._on_event

        def on_event(event: Event) -> None:
            listen(event)
            queue.put_nowait(event)

        self._on_event = on_event
        task = self.start()
        task.add_done_callback(lambda _task: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await task
        finally:
            if not task.done():
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    def cancel(self) -> None:
        """Cancels the run; its sandbox ends within a second, and the history keeps its attempts."""
        if self._work is not None:
            self._work.cancel()

    def cancelled_outcome(self) -> Outcome:
        """The outcome of a cancelled run: the result that it has offered, else its attempts so far."""
        return self.outcome or outcomes.build_stopped(self.state.attempts, StopReason.CANCELLED, "cancelled")

    def _emit(self, event: Event) -> None:
        self.state.record(event)
        self._on_event(event)

    # -- the result -------------------------------------------------------------------------------------------------

    def may_write(self, accept: Collection[str] = ()) -> bool:
        """May the result be written without review? `accept`: `partial`, `unverified`, `warned` or nothing."""
        outcome = self.outcome
        return outcome is not None and bool(outcome.after) and may_write(outcome, accept)

    async def apply(
        self, files: Files | None = None, *, report_status: Callable[[str], None] | None = None
    ) -> list[str]:
        """Writes the result, marks it as applied in the history, and returns the paths. See `plan`."""
        changes = await self.plan(files, report_status=report_status)
        await self.write(changes, files)
        return [change.path for change in changes]

    async def plan(
        self,
        files: Files | None = None,
        *,
        outcome: Outcome | None = None,
        originals: Mapping[str, str | None] | None = None,
        to_sandbox: Callable[[dict[str, bytes]], dict[str, bytes]] = lambda files: files,
        report_status: Callable[[str], None] | None = None,
    ) -> list[FileChange]:
        """Plans the changes that bring the result into the files (by default those on the disk).

        If a file changed during the run, it is merged, and the tests run again over the merged texts; they also run if
        another file changed that the result relies on. For files that the tests see in another form (a notebook),
        `outcome` and `originals` replace the result and its texts, and `to_sandbox` converts the current files.
        Raises `UsageError` if there is no result, `WorkspaceError` if the changes overlap, a file to change was
        deleted, or the merged texts fail.
        """
        problem, result = self.problem, outcome or self.outcome
        if problem is None or result is None or not result.after:
            raise UsageError("There is no result to write.", remedy="Run it first.")

        current = files or DiskFiles(root=problem.root)
        relied_on = problem.originals if originals is None else originals

        async def passes_again(texts: dict[str, bytes]) -> bool:
            if self.is_proven(texts):
                return True
            gone = {path for path in problem.buffers if path in relied_on and await current.read(path) is None}
            buffers = {path: data for path, data in problem.buffers.items() if path not in gone}
            now = replace(problem, buffers=buffers)
            reverify = getattr(self._engine, "reverify", after_run.reverify)
            if has_passed(await reverify(now, to_sandbox(texts), settings=self.settings)):
                self._passed_again = texts
            return self.is_proven(texts)

        return await result_files.plan_changes(
            result,
            current,
            originals=relied_on,
            passes_again=passes_again,
            report_status=report_status or self._report_status,
        )

    def is_proven(self, texts: Mapping[str, bytes]) -> bool:
        """Do the tests pass over these merged texts, as far as they ran? An unsolved result needs no proof."""
        return texts == self._passed_again or (self.outcome is not None and not self.outcome.solved)

    async def write(
        self,
        changes: Sequence[FileChange],
        files: Files | None = None,
        *,
        on_written: Callable[[], None] = lambda: None,
    ) -> None:
        """Writes all of the changes or none, each only over the text that it was planned for; marks them as applied.

        Raises `WorkspaceError`. Once begun, it finishes even if the caller is cancelled: some of several files would be
        worse than all or none.
        """
        root, run = self.request.root, self.outcome.run if self.outcome else None

        async def write() -> None:
            await (files or DiskFiles(root=root)).write(changes)
            on_written()
            await asyncio.to_thread(history.mark_applied, run)

        writing = asyncio.ensure_future(write())
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.gather(writing, return_exceptions=True)
            raise

    async def measure_strength(self, *, report_status: Callable[[str], None] | None = None) -> Noticed:
        """Measures which one-token changes of the result its tests do not notice.

        Raises `UsageError` without a solved result, `CannotVerifyError` if no sandbox can be used.
        """
        if self.problem is None or self.outcome is None:
            raise UsageError("There is no solved result to measure the tests on.", remedy="Run it first.")
        report = report_status or self._report_status
        return await after_run.measure_strength(
            self.problem, self.outcome, settings=self.settings, report_status=report
        )


def settings_for(user: User, settings: Settings) -> Settings:
    """The settings of a run for this user: a user who cannot answer is asked nothing."""
    can_answer = not isinstance(user, NoUser) and getattr(user, "can_answer", True)
    return settings if can_answer else replace(settings, ask=0)
