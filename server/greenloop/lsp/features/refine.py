"""The commands and the request for refinements: start, cancel, apply, discard; and driving one run."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from greenloop.core.errors import GreenloopError, UsageError
from greenloop.core.events import Event, Finished, Started, Tested
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection import client_requests
from greenloop.lsp.connection.messages import REFINE, RefineParams, refine_params
from greenloop.lsp.documents import locations, notebook_requests
from greenloop.lsp.documents.buffers import snapshot
from greenloop.lsp.features import configuration
from greenloop.lsp.presenters import diagnostics, notifications, refusals
from greenloop.lsp.presenters.progress import Bar
from greenloop.lsp.runs import command_arguments, confirm_apply, model_setup, restore
from greenloop.lsp.runs.apply_edit import Landing, land
from greenloop.lsp.runs.editor_user import EditorUser
from greenloop.lsp.runs.runs import GRACE, Phase, Run

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)


def register(server: Server) -> None:
    @server.feature(REFINE)
    async def refine_and_wait(params: Any) -> dict[str, Any]:
        run, fresh = start(server, refine_params(params))
        try:
            await run.over.wait()
        except asyncio.CancelledError:
            # A client that only joined a run does not end it.
            if fresh and run.cancel():
                await asyncio.wait([asyncio.ensure_future(run.over.wait())], timeout=GRACE)
            raise
        return result(run)

    @server.command("greenloop.refine")
    def refine(*arguments: Any) -> None:
        params = refine_params(command_arguments.table(arguments))
        try:
            start(server, params)
        except JsonRpcInvalidParams:
            # A client that declared `refusals` was notified already, and would show this error as well.
            if not server.abilities.refusals:
                raise

    @server.command("greenloop.cancel")
    def cancel(*arguments: Any) -> int:
        is_chosen, where = command_arguments.chosen(server, arguments), command_arguments.where(server, arguments)
        errands = server.errands.cancel() if command_arguments.table(arguments) is None else 0
        return server.runs.cancel(is_chosen) + server.checks.cancel(*where) + errands

    @server.command("greenloop.apply")
    def apply(*arguments: Any) -> None:
        offered = command_arguments.offered(server, arguments)
        for run in offered:
            server.runs.spawn(apply_kept(server, run))
        if not offered:
            client_requests.tell(server, "No result waits to be applied here.")

    @server.command("greenloop.discard")
    def discard(*arguments: Any) -> None:
        is_chosen = command_arguments.chosen(server, arguments)
        argument = command_arguments.table(arguments) or {}
        refusals.clear(server, argument.get("uri"))
        if "target" not in argument:
            located = server.documents.file_of(argument["uri"]) if argument else None
            server.checks.shown.clear(lambda path: not argument or (located is not None and path == located[0]))
        for run in [run for run in server.runs if is_chosen(run) and not run.running]:
            server.board.put(run, {})
            server.runs.discard(run)
            server.runs.spawn(restore.discarded(run))


# -- one run ----------------------------------------------------------------------------------------------------


def start(server: Server, params: RefineParams) -> tuple[Run, bool]:
    """The run for the requested target, and whether it was started by this call.

    Raises `JsonRpcInvalidParams` where there is nothing to refine; a client that declared `refusals` is notified.
    """
    try:
        return _start(server, params)
    except JsonRpcInvalidParams as error:
        if server.abilities.refusals:
            cause = error.__cause__ if isinstance(error.__cause__, GreenloopError) else UsageError(error.message)
            message, remedy = clean_for_display(str(cause)), clean_for_display(cause.remedy)
            client_requests.refused(server, message, reason=cause.kind, remedy=remedy, uri=params.uri)
        raise


def _start(server: Server, params: RefineParams) -> tuple[Run, bool]:
    try:
        project_file = locations.of(server, params.uri)
        if project_file is None:
            raise JsonRpcInvalidParams("Only files can be refined, and this is none.")
        target = command_arguments.target(server, project_file, params)
        settings = configuration.load(server, project_file.root, preset=params.preset)
    except GreenloopError as error:
        refusals.show(server, params.uri, params.position.line if params.position else 0, error)
        raise JsonRpcInvalidParams(error.advice) from error
    refusals.clear(server, params.uri)
    if (running := server.runs.same(project_file.root, target)) is not None:
        return running, False
    run = Run(
        root=project_file.root,
        target=target,
        uri=params.uri,
        open=server.documents.shows(params.uri),
        settings=settings,
        preset=params.preset,
        early=not server.settled.is_set(),
        began=time.monotonic(),
        token=params.work_done_token,
    )
    server.runs.start(run, lambda run: drive(server, run))
    # Diagnostics of a run that was dropped from the list could not be discarded otherwise.
    current_runs = set(server.runs)
    server.board.drop(lambda owner: isinstance(owner, Run) and owner not in current_runs)
    return run, True


async def drive(server: Server, run: Run) -> None:
    """Drives a run from start to end; returns when its result has been reported."""
    run.work = asyncio.create_task(_work(server, run))
    if run.cancelled:
        run.work.cancel()
    try:
        await asyncio.wait([run.work])
        if run.cancelled:
            # A run may end before the client has read the reply to the command that cancelled it.
            await client_requests.apart()
    except asyncio.CancelledError:
        run.cancelled = True
        raise
    finally:
        run.work.cancel()
        await asyncio.gather(run.work, return_exceptions=True)
        run.phase, run.ended = Phase.OVER, time.monotonic()
        try:
            _ended(server, run)
        except Exception:
            # An error in showing the end must not leave a request waiting.
            log.exception("The end of a run could not be shown")
        if (bar := server.bars.pop(run, None)) is not None:
            bar.end(_end_text(run))
        run.over.set()
        server.runs.moved()


def _ended(server: Server, run: Run) -> None:
    server.runs.release(run)
    if run.cancelled and run.outcome is None:
        server.board.put(run, {})
    else:
        diagnostics.publish(server, run)
    if (bar := server.bars.pop(run, None)) is not None:
        bar.end(_end_text(run))
    _last_words(server, run)


def _last_words(server: Server, run: Run) -> None:
    """Reports the result once it can be acted on, and not for a cancelled run."""
    work = run.work
    if run.outcome is None or work is None or work.cancelled() or work.exception() is not None:
        return
    if run.review:
        client_requests.review(server, run)
    else:
        notifications.ended(server, run, run.outcome, work.result())


async def _work(server: Server, run: Run) -> Landing | None:
    try:
        await _settled(server, run)
        server.bars[run] = bar = Bar(server, run)
        await bar.open()
        if bar.silent and run.ahead:
            notifications.waits(server, run)
        await server.runs.turn(run)
        diagnostics.publish(server, run)
        if bar.silent:
            notifications.began(server, run)
        outcome = await _refined(server, run)
        run.phase, run.outcome = Phase.SETTLING, outcome
        server.stirred()
        server.runs.release(run)
        if outcome.reason is StopReason.ALREADY_GREEN:
            ran = (case for attempt in outcome.attempts for case in attempt.verdict.cases)
            server.checks.shown.passed(run.root, {case.id for case in ran if case.passed})
        return await _finish(server, run, outcome)
    except GreenloopError as error:
        notifications.failed(server, run, error)
    except Exception:
        # Request boundary: the server must survive any error in a run.
        log.exception("A run failed")
        notifications.broke(server, run)
    return None


async def _settled(server: Server, run: Run) -> None:
    """Waits for the editor's settings if the run was requested before they arrived."""
    if run.early:
        await configuration.known(server)
        run.settings = configuration.load(server, run.root, preset=run.preset)


async def _refined(server: Server, run: Run) -> Outcome:
    await model_setup.ready(server, run)
    run.now = "starting"
    engine = await server.engine()
    from greenloop.engine.refine import Request  # noqa: PLC0415 - the engine is imported at the first run only

    target = run.target if run.target.qualname else run.target.selector
    texts = server.documents.texts(run.root)
    request = Request(root=run.root, target=target, buffers=await asyncio.to_thread(snapshot, texts, run.root))
    settings, emit, prepared = run.settings, _emitter(server, run), None
    if (notebook := server.documents.notebook(run.root / run.target.path, run.root)) is not None:
        run.prepared = prepared = await asyncio.to_thread(notebook_requests.prepared, run, notebook)
        request, settings = notebook_requests.asked(request, prepared, settings)
        emit = notebook_requests.telling(prepared, emit)

    def report_status(text: str) -> None:
        run.now = text
        server.refresh(run)

    with prepared.relabel_errors() if prepared else nullcontext():
        outcome = await engine.refine(
            request,
            settings=settings,
            emit=emit,
            report_status=report_status,
            user=EditorUser(server, run),
            opener=model_setup.opener(server, run),
            pool=server.pool,
        )
    return outcome if prepared is None else notebook_requests.answered(prepared, outcome)


def _emitter(server: Server, run: Run) -> Callable[[Event], None]:
    def emit(event: Event) -> None:
        run.record(event)
        try:
            server.refresh(run)
            if isinstance(event, Started | Tested):
                diagnostics.publish(server, run)
                server.runs.moved()
            if isinstance(event, Tested):
                notifications.tested(server, run)
            if isinstance(event, Finished):
                run.now = "finishing"
        except Exception:
            # Event boundary: an error in showing an event must not end the run.
            log.exception("An event could not be shown")

    return emit


async def _finish(server: Server, run: Run, outcome: Outcome) -> Landing | None:
    """Applies the result if the settings or the user want that; None where it was not tried."""
    apply_result: Landing | None = None
    if _by_itself(run, outcome) or (_askable(run, outcome) and await confirm_apply.given(server, run, outcome)):
        run.now = "putting it into the editor"
        apply_result = await land(server, run)
    if apply_result is not None and apply_result.applied:
        await restore.applied(run)
    return apply_result


def _by_itself(run: Run, outcome: Outcome) -> bool:
    return run.settings.apply == "verified" and _askable(run, outcome)


def _askable(run: Run, outcome: Outcome) -> bool:
    """Whether the result is verified without reservation; any other is only offered."""
    return outcome.applicable and bool(run.changes)


async def apply_kept(server: Server, run: Run) -> None:
    """Applies an offered result at the user's request."""
    outcome = run.outcome
    if outcome is None:
        return
    apply_result = await land(server, run)
    if apply_result.applied:
        await restore.applied(run)
        server.runs.moved()
    notifications.ended(server, run, outcome, apply_result)
    diagnostics.publish(server, run)


def result(run: Run) -> dict[str, Any]:
    """The reply to `greenloop/refine`; docs/protocol.md describes it."""
    outcome = run.outcome
    reason = outcome.reason if outcome else StopReason.CANCELLED if run.cancelled else None
    return {
        "solved": bool(outcome and outcome.solved),
        "verified": (outcome.verified if outcome else Verified.UNVERIFIED).value,
        "reason": reason.value if reason else run.refused,
        "attempts": max(len(run.attempts) - 1, 0),
        "applied": run.applied,
    }


def _end_text(run: Run) -> str:
    if run.outcome is not None and run.cancelled and not run.applied:
        return "cancelled, the result is kept" if run.changes else "cancelled"
    if run.outcome is not None:
        return "applied" if run.applied else run.outcome.reason.value
    return "cancelled" if run.cancelled else "failed"
