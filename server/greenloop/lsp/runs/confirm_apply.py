"""`apply = ask`: shows the change of a result, then asks whether to apply it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenloop.core.records.outcome import Outcome
from greenloop.lsp import pages
from greenloop.lsp.connection import client_requests
from greenloop.lsp.presenters import page_text
from greenloop.lsp.presenters.notifications import standing
from greenloop.lsp.runs.apply_edit import plan

if TYPE_CHECKING:
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server

APPLY, KEEP, SHOW = "Apply", "Keep", "Show"


async def given(server: Server, run: Run, outcome: Outcome) -> bool:
    """Whether the user wants the result now. False where the editor cannot ask; True where nothing can be applied.

    The change is opened as a page; where that is not possible, the question contains its first lines. A client that
    declared `review` shows it on its own, after the run.
    """
    if server.abilities.review:
        changes = plan(server, run)
        run.review = isinstance(changes, list) and bool(changes)
        return not run.review
    if not server.abilities.questions:
        return False
    run.now = "waiting for your answer"
    server.refresh(run)
    is_shown, path, diff = await pages.result(server, run)
    if not diff:
        return True
    question = f"{run.name} is {standing(outcome)}. Apply it?"
    while True:
        # An editor that declared support but did not open the page may do so when asked again.
        may_retry = server.abilities.show_document and not is_shown
        lines = [question] if is_shown else [question, page_text.short(diff), f"All of it is in {path}" if path else ""]
        answer = await client_requests.ask(
            server, "\n\n".join(filter(None, lines)), (APPLY, SHOW, KEEP) if may_retry else (APPLY, KEEP)
        )
        if answer != SHOW:
            return answer == APPLY
        is_shown, path, diff = await pages.result(server, run)
