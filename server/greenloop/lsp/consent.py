"""`apply = ask`: what a result would change is shown, then it is asked whether to apply it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenloop.core.nouns import Outcome
from greenloop.lsp import client, pages
from greenloop.lsp.edits import plan
from greenloop.lsp.presenters import page
from greenloop.lsp.presenters.status import standing

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server

APPLY, KEEP, SHOW = "Apply", "Keep", "Show"


async def given(server: Server, run: Run, outcome: Outcome) -> bool:
    """Whether the user wants the result now. False where the editor cannot ask; True where nothing could be applied.

    The change is opened as a page; where that cannot be, its first lines stand in the question. A client that declared
    `review` shows it by itself, after the run.
    """
    if server.abilities.review:
        steps = plan(server, run)
        run.review = isinstance(steps, list) and bool(steps)
        return not run.review
    if not server.abilities.questions:
        return False
    run.now = "waiting for your answer"
    server.refresh(run)
    shown, path, diff = await pages.result(server, run)
    if not diff:
        return True
    question = f"{run.name} is {standing(outcome)}. Apply it?"
    while True:
        # An editor that declared it and did not open the page may do so when asked again.
        again = server.abilities.show_document and not shown
        lines = [question] if shown else [question, page.short(diff), f"All of it is in {path}" if path else ""]
        answer = await client.ask(
            server, "\n\n".join(filter(None, lines)), (APPLY, SHOW, KEEP) if again else (APPLY, KEEP)
        )
        if answer != SHOW:
            return answer == APPLY
        shown, path, diff = await pages.result(server, run)
