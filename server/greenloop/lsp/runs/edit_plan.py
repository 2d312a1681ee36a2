"""Plans the edit that brings a result into the current texts, merged three-way with what the user typed since.

It must not know how an edit is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsprotocol import types as lsp

from greenloop.api.result_files import merge_text
from greenloop.core.errors import WorkspaceError
from greenloop.lsp.connection.convert import DocumentEdit, contains, workspace_edit
from greenloop.lsp.documents.disk import normalize, restore_style
from greenloop.lsp.documents.notebooks import cell_changes
from greenloop.lsp.editor import Editor
from greenloop.lsp.state.run import ApplyResult, Run


@dataclass(frozen=True, kw_only=True)
class TextChange:
    """The change of one file: its current text (None: it does not exist yet), and the text with the result.

    `merged`: the current text is not the one that the run began with.
    """

    path: str
    current: str | None
    new: str
    merged: bool


def new_texts(changes: Sequence[TextChange]) -> dict[str, str]:
    return {change.path: change.new for change in changes}


class EditPlanner:
    """Compares results with the editor's current texts."""

    def __init__(self, editor: Editor) -> None:
        self._client, self._documents = editor.client, editor.documents

    def plan(self, run: Run) -> list[TextChange] | ApplyResult:
        """The remaining change of each file's current text; an `ApplyResult` with the reason if it is not possible."""
        changes = self.plan_for(run, self.current_texts(run))
        if isinstance(changes, list) and (reason := self.conflict_reason(run, changes)):
            return ApplyResult(applied=False, reason=reason)
        return changes

    def current_texts(self, run: Run) -> dict[str, str | None]:
        """The current texts of the files that the result changes."""
        return {path: self._documents.text(run.root / path) for path in run.changes}

    def plan_for(self, run: Run, texts: Mapping[str, str | None]) -> list[TextChange] | ApplyResult:
        """As `plan`, for given texts and without regard to conflicts. Long texts take time: call it in a thread."""
        outcome, changes = run.outcome, []
        assert outcome is not None
        for path, after in run.changes.items():
            before, current = outcome.before.get(path), texts[path]
            if before is None and current is None and not self._client.capabilities.create_files:
                return ApplyResult(applied=False, reason=f"this editor cannot create {path}")
            if before is not None and current is None:
                return ApplyResult(applied=False, reason=f"{path} was deleted during the run")
            old, new, actual = normalize(before or ""), normalize(after), normalize(current or "")
            if current is not None and contains(old, new, actual):
                continue
            try:
                merged_text = merge_text(path, old, new, actual)
            except WorkspaceError as error:
                return ApplyResult(applied=False, reason=str(error).rstrip("."))
            text = restore_style(current, merged_text) if current else after
            changes.append(TextChange(path=path, current=current, new=text, merged=actual != old))
        return changes

    def conflict_reason(self, run: Run, changes: Sequence[TextChange]) -> str:
        """Why a file cannot take its change (it changed on disk, or a change spans cells); empty where all can."""
        for change in changes:
            path = run.root / change.path
            if (notebook := self._documents.notebook(path, run.root)) is not None:
                if cell_changes(notebook, change.current or "", change.new) is None:
                    return f"one change would span several cells of {notebook.path}"
            elif reason := self._documents.conflicts.conflict_reason(path, change.path, change.current or ""):
                return reason
        return ""

    def is_proven(self, run: Run, changes: Sequence[TextChange]) -> bool:
        """Whether a result was verified with exactly the current texts; True for an unsolved one without proof."""
        if run.outcome is None or not run.outcome.solved:
            return True
        is_merged = any(change.merged for change in changes)
        if is_merged and not run.result.verified_texts:
            return False
        others = self.other_texts(run)
        if run.result.verified_texts == others | new_texts(changes):
            return True
        originals = run.started.problem.originals if run.started else {}
        is_unchanged = all(normalize(originals[path] or "") == text for path, text in others.items())
        return is_unchanged and not is_merged and not run.result.tests_changed

    def other_texts(self, run: Run) -> dict[str, str]:
        """The current texts of files that the result was verified with and does not change."""
        others = run.started.problem.originals if run.started else {}
        return {
            path: normalize(self._documents.text(run.root / path) or "") for path in others if path not in run.changes
        }

    def workspace_edit(self, run: Run, changes: Sequence[TextChange]) -> lsp.WorkspaceEdit:
        """The changes as an edit of the editor's documents."""
        documents = self._documents
        edits: list[DocumentEdit] = []
        for change in changes:
            path = run.root / change.path
            if documents.notebook_at(path) is not None:
                edits += self._cell_edits(run, change)
                continue
            document = documents.document_at(path)
            version = document.version if document else None
            edits.append(
                DocumentEdit(uri=documents.uri_of(path), before=change.current, after=change.new, version=version)
            )
        codec = documents.position_codec
        return workspace_edit(edits, codec, document_changes=self._client.capabilities.document_changes)

    def _cell_edits(self, run: Run, change: TextChange) -> list[DocumentEdit]:
        """A notebook's change as changes of its cells."""
        documents, path = self._documents, run.root / change.path
        notebook = documents.notebook(path, run.root)
        changes = cell_changes(notebook, change.current or "", change.new) if notebook else None
        uris = [uri for uri, _lines_before in documents.documents_of(path)]
        return [
            DocumentEdit(uri=uris[n], before=before, after=after, version=documents.get_text_document(uris[n]).version)
            for n, before, after in changes or ()
        ]
