"""`apply = ask`: shows the change of a result, then asks whether to apply it."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.outcome import Outcome
from greenloop.lsp.connection.client import Client
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.presenters import page_text
from greenloop.lsp.presenters.notifications import name_cells, short_verdict, warning_sentences
from greenloop.lsp.presenters.pages import Pages
from greenloop.lsp.runs.edit_plan import EditPlanner
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.run import Run

APPLY, KEEP, SHOW = "Apply", "Keep", "Show"


class ApplyConfirmation:
    """Asks the user about results."""

    def __init__(self, client: Client, documents: Documents, planner: EditPlanner, pages: Pages, runs: Runs) -> None:
        self._client, self._documents, self._planner = client, documents, planner
        self._pages, self._runs = pages, runs

    async def confirm(self, run: Run, outcome: Outcome) -> bool:
        """Whether the user wants the result now. False if the editor cannot ask; True if nothing can be applied.

        The change is opened as a page; where that is not possible, the question contains its first lines. A client that
        declared `review` shows it on its own, after the run.
        """
        if self._client.capabilities.review:
            changes = self._planner.plan(run)
            run.result.awaits_review = isinstance(changes, list) and bool(changes)
            return not run.result.awaits_review
        if not self._client.capabilities.questions:
            return False
        self._runs.set_status(run, "waiting for your answer")
        is_shown, path, diff = await self._show(run)
        if not diff:
            return True
        question = " ".join(
            [f"{run.name} is {short_verdict(outcome)}.", *warning_sentences(outcome), "Apply the change?"]
        )
        while True:
            # An editor that declared support but did not open the page may do so when asked again.
            may_retry = self._client.capabilities.show_document and not is_shown
            lines = [question]
            if not is_shown:
                lines += [page_text.first_lines(diff), f"The full change is in {path}" if path else ""]
            answer = await self._client.ask(
                "\n\n".join(filter(None, lines)), (APPLY, SHOW, KEEP) if may_retry else (APPLY, KEEP)
            )
            if answer != SHOW:
                return answer == APPLY
            is_shown, path, diff = await self._show(run)

    async def _show(self, run: Run) -> tuple[bool, Path | None, str]:
        """Shows the change: whether the editor opened the page, the page's path (None: not written), and the diff.

        The diff is empty where nothing can be applied now.
        """
        changes = self._planner.plan(run)
        if not isinstance(changes, list) or not changes:
            return False, None, ""
        before, after = {each.path: each.current for each in changes}, {each.path: each.new for each in changes}
        diff = name_cells(self._documents, run, page_text.diff(before, after))
        return *await self._pages.open_result(run, diff), diff
