"""Commands and the custom request: start, cancel, apply, discard, show; and the course of one run."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from greenloop.core.errors import GreenloopError, UsageProblem
from greenloop.core.events import Event, Finished, Started, Tested
from greenloop.core.nouns import Outcome, StopReason, Verified
from greenloop.core.redact import clean
from greenloop.lsp import cells, client, consent, meant, model, places, restart
from greenloop.lsp.buffers import snapshot
from greenloop.lsp.edits import Landing, land
from greenloop.lsp.features import configuration
from greenloop.lsp.presenters import diagnostics, refusals, status
from greenloop.lsp.presenters.progress import Bar
from greenloop.lsp.protocol import REFINE, RefineParams, refine_params
from greenloop.lsp.runs import GRACE, Phase, Run
from greenloop.lsp.user import EditorUser

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
            # Whoever only joined a run does not end it.
            if fresh and run.cancel():
                await asyncio.wait([asyncio.ensure_future(run.over.wait())], timeout=GRACE)
            raise
        return result(run)

    @server.command("greenloop.refine")
    def refine(*arguments: Any) -> None:
        params = refine_params(meant.table(arguments))
        try:
            start(server, params)
        except JsonRpcInvalidParams:
            # Such a client was told already, and would show an error besides.
            if not server.abilities.refusals:
                raise

    @server.command("greenloop.cancel")
    def cancel(*arguments: Any) -> int:
        chosen, where = meant.chosen(server, arguments), meant.where(server, arguments)
        errands = server.errands.cancel() if meant.table(arguments) is None else 0
        return server.runs.cancel(chosen) + server.checks.cancel(*where) + errands

    @server.command("greenloop.apply")
    def apply(*arguments: Any) -> None:
        offered = meant.offered(server, arguments)
        for run in offered:
            server.runs.spawn(apply_kept(server, run))
        if not offered:
            client.tell(server, "No result waits to be applied here.")

    @server.command("greenloop.discard")
    def discard(*arguments: Any) -> None:
        chosen = meant.chosen(server, arguments)
        named = meant.table(arguments) or {}
        refusals.clear(server, named.get("uri"))
        if "target" not in named:
            meant_file = server.documents.file_of(named["uri"]) if named else None
            server.checks.shown.clear(lambda path: not named or (meant_file is not None and path == meant_file[0]))
        for run in [run for run in server.runs if chosen(run) and not run.running]:
            server.board.put(run, {})
            server.runs.discard(run)
            server.runs.spawn(restart.discarded(run))


# -- one run ----------------------------------------------------------------------------------------------------


def start(server: Server, params: RefineParams) -> tuple[Run, bool]:
    """The run for what the parameters name, and whether it was begun just now.

    Raises `JsonRpcInvalidParams` when there is nothing to refine there; a client that declared `refusals` is told.
    """
    try:
        return _start(server, params)
    except JsonRpcInvalidParams as error:
        if server.abilities.refusals:
            cause = error.__cause__ if isinstance(error.__cause__, GreenloopError) else UsageProblem(error.message)
            message, remedy = clean(str(cause)), clean(cause.remedy)
            client.refused(server, message, reason=cause.word, remedy=remedy, uri=params.uri)
        raise


def _start(server: Server, params: RefineParams) -> tuple[Run, bool]:
    try:
        place = places.of(server, params.uri)
        if place is None:
            raise JsonRpcInvalidParams("Only files can be refined, and this is none.")
        target = meant.target(server, place, params)
        settings = configuration.load(server, place.root, preset=params.preset)
    except GreenloopError as error:
        refusals.show(server, params.uri, params.position.line if params.position else 0, error)
        raise JsonRpcInvalidParams(error.advice) from error
    refusals.clear(server, params.uri)
    if (running := server.runs.same(place.root, target)) is not None:
        return running, False
    run = Run(
        root=place.root,
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
    # Whatever is no longer among the runs could not be discarded any more either.
    known = set(server.runs)
    server.board.drop(lambda owner: isinstance(owner, Run) and owner not in known)
    return run, True


async def drive(server: Server, run: Run) -> None:
    """The whole course of a run; returns when everything about it has been said."""
    run.work = asyncio.create_task(_work(server, run))
    if run.cancelled:
        run.work.cancel()
    try:
        await asyncio.wait([run.work])
        if run.cancelled:
            # A run may end before the reply to the command that cancelled it is read.
            await client.apart()
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
            # What cannot be shown must leave nobody waiting.
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
    """What came out is said when it can be acted on, and not of a run that was given up."""
    work = run.work
    if run.outcome is None or work is None or work.cancelled() or work.exception() is not None:
        return
    if run.review:
        client.review(server, run)
    else:
        status.ended(server, run, run.outcome, work.result())


async def _work(server: Server, run: Run) -> Landing | None:
    try:
        await _settled(server, run)
        server.bars[run] = bar = Bar(server, run)
        await bar.open()
        if bar.silent and run.ahead:
            status.waits(server, run)
        await server.runs.turn(run)
        diagnostics.publish(server, run)
        if bar.silent:
            status.began(server, run)
        outcome = await _refined(server, run)
        run.phase, run.outcome = Phase.SETTLING, outcome
        server.stirred()
        server.runs.release(run)
        if outcome.reason is StopReason.ALREADY_GREEN:
            ran = (case for attempt in outcome.attempts for case in attempt.verdict.cases)
            server.checks.shown.passed(run.root, {case.id for case in ran if case.passed})
        return await _finish(server, run, outcome)
    except GreenloopError as error:
        status.failed(server, run, error)
    except Exception:
        # The request edge: the server outlives whatever goes wrong in a run.
        log.exception("A run failed")
        status.broke(server, run)
    return None


async def _settled(server: Server, run: Run) -> None:
    """Somebody was faster than the editor's answer about its settings."""
    if run.early:
        await configuration.known(server)
        run.settings = configuration.load(server, run.root, preset=run.preset)


async def _refined(server: Server, run: Run) -> Outcome:
    await model.ready(server, run)
    run.now = "starting"
    engine = await server.engine()
    from greenloop.engine import Request  # noqa: PLC0415 - the engine is imported at the first run only

    target = run.target if run.target.qualname else run.target.selector
    texts = server.documents.texts(run.root)
    request = Request(root=run.root, target=target, buffers=await asyncio.to_thread(snapshot, texts, run.root))
    settings, emit, prepared = run.settings, _emitter(server, run), None
    if (notebook := server.documents.notebook(run.root / run.target.path, run.root)) is not None:
        run.prepared = prepared = await asyncio.to_thread(cells.prepared, run, notebook)
        request, settings = cells.asked(request, prepared, settings)
        emit = cells.telling(prepared, emit)

    def say(text: str) -> None:
        run.now = text
        server.refresh(run)

    with prepared.telling() if prepared else nullcontext():
        outcome = await engine.refine(
            request,
            settings=settings,
            emit=emit,
            say=say,
            user=EditorUser(server, run),
            opener=model.opener(server, run),
            keeper=server.keeper,
        )
    return outcome if prepared is None else cells.answered(prepared, outcome)


def _emitter(server: Server, run: Run) -> Callable[[Event], None]:
    def emit(event: Event) -> None:
        run.record(event)
        try:
            server.refresh(run)
            if isinstance(event, Started | Tested):
                diagnostics.publish(server, run)
                server.runs.moved()
            if isinstance(event, Tested):
                status.tested(server, run)
            if isinstance(event, Finished):
                run.now = "finishing"
        except Exception:
            # The fan-out of events: what cannot be shown must not end the run.
            log.exception("An event could not be shown")

    return emit


async def _finish(server: Server, run: Run, outcome: Outcome) -> Landing | None:
    """Puts the result into the editor where that is wanted; None where nobody tried."""
    landing: Landing | None = None
    if _by_itself(run, outcome) or (_askable(run, outcome) and await consent.given(server, run, outcome)):
        run.now = "putting it into the editor"
        landing = await land(server, run)
    if landing is not None and landing.applied:
        await restart.applied(run)
    return landing


def _by_itself(run: Run, outcome: Outcome) -> bool:
    return run.settings.apply == "verified" and _askable(run, outcome)


def _askable(run: Run, outcome: Outcome) -> bool:
    """Verified without reservation; everything else is only offered."""
    return outcome.applicable and bool(run.changes)


async def apply_kept(server: Server, run: Run) -> None:
    """The user asked for a kept result."""
    outcome = run.outcome
    if outcome is None:
        return
    landing = await land(server, run)
    if landing.applied:
        await restart.applied(run)
        server.runs.moved()
    status.ended(server, run, outcome, landing)
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
