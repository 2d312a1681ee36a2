"""Follows texts for the runs: an undone or redone result, an edit that arrives late, a closed document."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path
from urllib.parse import unquote

from greenloop import api
from greenloop.core.text.diff import with_plain_ends
from greenloop.lsp.documents.open_documents import REOPEN
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters.diagnostics import RunDiagnostics
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.presenters.notifications import RunNotifications
from greenloop.lsp.runs.apply_edit import EditApplier
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.questions import UserReply
from greenloop.lsp.state.run import Run


class TextChanges:
    """Follows the texts of open documents for the runs."""

    def __init__(
        self, editor: Editor, store: DiagnosticsStore, runs: Runs, applier: EditApplier, run_diagnostics: RunDiagnostics
    ) -> None:
        self._documents, self._tasks, self._notifications = editor.documents, editor.tasks, RunNotifications(editor)
        self._store, self._runs, self._applier, self._run_diagnostics = store, runs, applier, run_diagnostics

    def notice(self, path: Path | None) -> None:
        """Handles a file's changed text, which may undo a result, or contain an edit that was sent before."""
        if path is not None:
            self._store.update(path)
            self._notice_undo(path)
            self._notice_late_edits(path)
        self._documents.notify_changed()

    def end_questions(self, uris: Collection[str]) -> None:
        """Closes the questions of runs whose document was closed."""
        for run in self._runs:
            if run.question is not None and run.uri in uris:
                run.question.close(UserReply())

    def cancel_unless_reopened(self, uris: Collection[str]) -> None:
        """Cancels the runs started from closed documents, unless one of them is reopened at once."""
        # Clients escape URIs in several ways, not always consistently.
        names = {unquote(uri) for uri in uris}
        if any(run.cancellable and run.request.was_open and unquote(run.uri) in names for run in self._runs):
            self._tasks.spawn(self._cancel(names))

    async def _cancel(self, names: set[str]) -> None:
        def is_reopened() -> bool:
            return any(map(self._documents.is_open, names))

        if not await self._documents.wait_until(is_reopened, REOPEN):
            self._runs.cancel(lambda run: run.request.was_open and unquote(run.uri) in names)

    def _notice_late_edits(self, path: Path) -> None:
        """Notices a result in this file's text whose edit was given up, or was part of a code action."""
        for run in self._runs:
            if _path_in(run, path) not in run.result.sent_texts:
                continue
            apply_result = self._applier.detect_late_edit(run)
            if apply_result is not None and run.outcome is not None:
                self._tasks.spawn(asyncio.to_thread(api.history.mark_applied, run.outcome.run))
                self._notifications.end(run, run.outcome, apply_result)
                self._run_diagnostics.publish(run)
                self._runs.notify_list_changed()

    def _notice_undo(self, path: Path) -> None:
        """Notices undo and redo: an undone result can be applied again, a redone one counts as applied.

        Closing a file without saving also undoes a result.
        """
        applied_here = [
            (run, run.result.applied_texts[name])
            for run in self._runs
            if (name := _path_in(run, path)) in run.result.applied_texts
        ]
        text = self._documents.text(path) if applied_here else None
        for run, (before, after) in applied_here if text is not None else ():
            current = with_plain_ends(text or "")
            if run.result.applied:
                is_applied = current != with_plain_ends(before)
            else:
                is_applied = current == with_plain_ends(after) and self._is_redone(run)
            if is_applied != run.result.applied:
                run.result.applied = is_applied
                self._runs.notify_list_changed()

    def _is_redone(self, run: Run) -> bool:
        """True if every file's text is the one that the applied result had left."""
        texts = {path: self._documents.text(run.root / path) for path in run.result.applied_texts}
        return all(
            with_plain_ends(texts[path] or "") == with_plain_ends(after)
            for path, (_before, after) in run.result.applied_texts.items()
        )


def _path_in(run: Run, path: Path) -> str:
    return path.relative_to(run.root).as_posix() if path.is_relative_to(run.root) else ""
