"""Drives one run from its request to its reported end."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from greenloop import api
from greenloop.api.result_files import may_write
from greenloop.api.settings import Settings
from greenloop.core.aims import find_aim
from greenloop.core.errors import GreenloopError
from greenloop.core.events import Event, Offered, Started, Tested
from greenloop.core.records.outcome import Outcome, StopReason
from greenloop.core.records.spec import Target
from greenloop.lsp.connection.client import after_reply
from greenloop.lsp.connection.messages import RefineParams
from greenloop.lsp.documents.disk import snapshot
from greenloop.lsp.documents.locations import ProjectFile
from greenloop.lsp.editor import Editor
from greenloop.lsp.engines import Engines
from greenloop.lsp.presenters.diagnostics import RunDiagnostics
from greenloop.lsp.presenters.notifications import RunNotifications
from greenloop.lsp.presenters.progress import RunProgressLine
from greenloop.lsp.runs.apply_edit import EditApplier
from greenloop.lsp.runs.editor_user import ApplyConfirmation, EditorUser
from greenloop.lsp.runs.model_setup import ModelSetup
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.run import ApplyResult, Phase, Run, RunRequest
from greenloop.wording.outcome import describe_gain

if TYPE_CHECKING:
    from greenloop.api.session import UnsolvedRun

log = logging.getLogger(__name__)


class RunDriver:
    """Starts runs, and does all that happens in them."""

    def __init__(
        self,
        editor: Editor,
        engines: Engines,
        runs: Runs,
        run_diagnostics: RunDiagnostics,
        applier: EditApplier,
        models: ModelSetup,
    ) -> None:
        self._editor, self._documents, self._settings = editor, editor.documents, editor.settings
        self._engines, self._runs, self._applier = engines, runs, applier
        self._run_diagnostics = run_diagnostics
        self._notifications, self._models = RunNotifications(editor), models
        self._confirmation = ApplyConfirmation(editor, runs, applier.planner)
        self.progress_lines: dict[Run, RunProgressLine] = {}
        runs.on_changed.append(self._update_progress)
        runs.on_waiting = self._show_waiting

    def start(self, file: ProjectFile, target: Target, settings: Settings, params: RefineParams) -> tuple[Run, bool]:
        """The run for a target, and whether it was started by this call."""
        if (running := self._runs.find_running(file.root, target)) is not None:
            return running, False
        request = RunRequest(
            root=file.root,
            target=target,
            uri=params.uri,
            was_open=self._documents.is_open(params.uri),
            settings=settings,
            preset=params.preset,
            aim=find_aim(params.goal),
            comment=params.comment or "",
            continues=params.continues,
            settings_pending=not self._settings.received.is_set(),
            began_at=time.monotonic(),
            progress_token=params.work_done_token,
        )
        return self._start(request), True

    def _start(self, request: RunRequest) -> Run:
        run = Run(request)
        self._runs.start(run, self._drive)
        self._run_diagnostics.remove_dropped()
        return run

    async def apply(self, run: Run) -> None:
        """Applies an offered result at the user's request."""
        outcome = run.outcome
        if outcome is None:
            return
        apply_result = await self._applier.apply(run)
        if apply_result.applied:
            self._runs.notify_list_changed()
        self._notifications.end(run, outcome, apply_result)
        self._run_diagnostics.publish(run)

    async def undo(self, run: Run) -> None:
        """Takes an applied result out of the text at the user's request; it is offered again."""
        if reason := await self._applier.undo(run):
            self._editor.client.show_warning(f"{run.name} was not undone: {reason}.")
        self._runs.notify_list_changed()

    async def _drive(self, run: Run) -> None:
        """Returns when the run's result has been reported."""
        run.work = asyncio.create_task(self._work(run))
        if run.cancelled:
            run.work.cancel()
        try:
            await asyncio.wait([run.work])
            if run.cancelled:
                # A run may end before the client has read the reply to the command that cancelled it.
                await after_reply()
        except asyncio.CancelledError:
            run.cancelled = True
            raise
        finally:
            run.work.cancel()
            await asyncio.gather(run.work, return_exceptions=True)
            run.phase, run.ended_at = Phase.OVER, time.monotonic()
            try:
                self._show_end(run)
            except Exception:
                # An error in showing the end must not leave a request waiting.
                log.exception("The end of a run could not be shown")
            self._end_progress(run)
            run.is_over.set()
            self._runs.notify_list_changed()
            if not run.cancelled:
                self._editor.tasks.spawn(self._offer_model(run))

    async def _offer_model(self, run: Run) -> None:
        """Goes on with a model, where the run needed one and the user wants it downloaded."""
        if await self._models.offer(run):
            continues = run.outcome.run if run.outcome else None
            request = replace(run.request, downloads_model=True, continues=continues, progress_token=None)
            if self._runs.find_running(request.root, request.target) is None:
                self._start(replace(request, began_at=time.monotonic()))

    async def _work(self, run: Run) -> ApplyResult | None:
        try:
            await self._wait_for_settings(run)
            self.progress_lines[run] = progress_line = RunProgressLine(self._editor, run)
            await progress_line.open()
            if not progress_line.is_shown and run.runs_ahead:
                self._notifications.wait(run)
            await self._runs.wait_turn(run)
            self._run_diagnostics.publish(run)
            if not progress_line.is_shown:
                self._notifications.begin(run)
            outcome = await self._refine(run)
            run.phase, run.progress.outcome = Phase.SETTLING, outcome
            self._runs.notify_changed(run)
            self._runs.release(run)
            if outcome.reason is StopReason.ALREADY_GREEN:
                ran = (case for attempt in outcome.attempts for case in attempt.verdict.cases)
                self._runs.notify_passed(run.root, {case.id for case in ran if case.passed})
            return await self._apply_if_wanted(run, outcome)
        except GreenloopError as error:
            self._notifications.refuse(run, error)
        except Exception:
            # Request boundary: the server must survive any error in a run.
            log.exception("A run failed")
            self._notifications.fail(run)
        return None

    async def _wait_for_settings(self, run: Run) -> None:
        """Waits for the editor's settings if the run was requested before they arrived."""
        if run.request.settings_pending:
            await self._settings.wait_shortly()
            settings = self._settings.load(run.root, preset=run.request.preset)
            run.request = replace(run.request, settings=settings)

    async def _refine(self, run: Run) -> Outcome:
        await self._models.require(run)
        opener = await self._models.opener(run)
        run.progress.status = "starting"
        engine = await self._engines.engine()
        target = run.target if run.target.qualname else run.target.selector
        texts = self._documents.open_texts(run.root)
        request = api.RefineRequest(
            root=run.root,
            target=target,
            buffers=await asyncio.to_thread(snapshot, texts, run.root),
            aim=run.request.aim,
            comment=run.request.comment,
            earlier=await asyncio.to_thread(_read_earlier, run.request.continues),
        )
        settings, prepared = run.settings, None
        if (composite := self._documents.composite(run.root / run.target.path, run.root)) is not None:
            run.prepared = prepared = await asyncio.to_thread(composite.prepare, run.target)
            request, settings = prepared.to_request(request), prepared.adapt_settings(settings)
        run.session = session = api.RefineSession(
            request,
            settings=settings,
            user=EditorUser(self._editor.client, self._runs, run),
            opener=opener,
            pool=self._engines.pool,
            report_status=lambda status: self._runs.set_status(run, status),
            on_event=lambda event: self._show_event(run, event),
            state=run.progress,
            engine=engine,
        )
        with prepared.relabel_errors() if prepared else nullcontext():
            outcome = await session.run()
        return outcome if prepared is None else prepared.in_editor(outcome)

    def _show_event(self, run: Run, event: Event) -> None:
        run.follow(event)
        if isinstance(event, Started) and run.prepared is not None:
            originals = {**event.problem.originals, **run.prepared.texts()}
            run.progress.started = replace(event, problem=replace(event.problem, originals=originals))
        try:
            self._runs.notify_changed(run)
            if isinstance(event, Started | Tested | Offered):
                self._run_diagnostics.publish(run)
                self._runs.notify_list_changed()
            if isinstance(event, Tested):
                self._notifications.log_attempt(run)
            if isinstance(event, Offered):
                self._notifications.offer(run)
            if isinstance(event, Tested) and event.attempt.refused and run.result.applied:
                self._notifications.take_back(run)
                run.cancel()
        except Exception:
            # Event boundary: an error in showing an event must not end the run.
            log.exception("An event could not be shown")

    async def _apply_if_wanted(self, run: Run, outcome: Outcome) -> ApplyResult | None:
        """Applies the result if the settings or the user want that; None where it was not tried.

        A result that is not verified without reservation is only offered, unless the settings accept it.
        """
        accepted = ("partial",) if run.settings.apply == "partial" else ()
        if run.result.applied:  # while related tests went on
            return ApplyResult(applied=True)
        if not may_write(outcome, accepted) or not run.changes:
            return None
        if run.settings.apply == "ask" and not await self._confirmation.confirm(run, outcome):
            return None
        run.progress.status = "applying the result"
        return await self._applier.apply(run)

    # -- what is shown ----------------------------------------------------------------------------------------------

    def _show_waiting(self, run: Run) -> None:
        """Shows that a run waits, and how many runs are ahead of it."""
        self._runs.notify_changed(run)
        self._run_diagnostics.publish(run)

    def _update_progress(self, run: Run) -> None:
        if (progress_line := self.progress_lines.get(run)) is not None:
            progress_line.update()

    def _end_progress(self, run: Run) -> None:
        if (progress_line := self.progress_lines.pop(run, None)) is not None:
            progress_line.end(_end_text(run))

    def _show_end(self, run: Run) -> None:
        self._runs.release(run)
        if run.cancelled and run.outcome is None:
            self._run_diagnostics.remove(run)
        else:
            self._run_diagnostics.publish(run)
        self._end_progress(run)
        work = run.work
        # Only a result that can be acted on is reported, and not that of a cancelled run.
        if run.outcome is None or work is None or work.cancelled() or work.exception() is not None:
            return
        if run.result.awaits_review:
            self._notifications.request_review(run)
        else:
            self._notifications.end(run, run.outcome, work.result())


def _end_text(run: Run) -> str:
    if run.outcome is not None and run.cancelled and not run.result.applied:
        return "cancelled, the result is kept" if run.changes else "cancelled"
    if run.outcome is not None:
        end = "applied" if run.result.applied else run.outcome.reason.value
        return ": ".join(filter(None, [end, describe_gain(run.outcome.evidence)]))
    return "cancelled" if run.cancelled else "failed"


def _read_earlier(number: int | None) -> UnsolvedRun | None:
    """The run to go on with. Raises `UsageError` where it is of no use. Blocking."""
    if number is None:
        return None
    return api.session.read_unsolved_run(number)
