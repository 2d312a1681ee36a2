"""The files of a run as the editor has them, and the edit that brings a result into them.

How a result is merged with what was typed since, and when that is verified again, is decided in `api/result_files.py`.
It must not know how an edit is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsprotocol import types as lsp

from greenloop.api.result_files import FileChange, find_stale, plan_texts, texts_to_verify
from greenloop.core.errors import WorkspaceError
from greenloop.core.records.outcome import Outcome
from greenloop.core.text.diff import merge
from greenloop.core.text.encoding import decode
from greenloop.lsp.connection.convert import DocumentEdit, workspace_edit
from greenloop.lsp.documents.disk import encode_as_saved, normalize, restore_style
from greenloop.lsp.editor import Editor
from greenloop.lsp.state.run import Run


@dataclass(frozen=True, kw_only=True)
class TextChange:
    """The change of one file: the editor's text (None: it does not exist yet), and the text with the result."""

    path: str
    current: str | None
    new: str


@dataclass(frozen=True, kw_only=True)
class EditPlan:
    """The changes that remain, for the façade and for the editor, or the `reason` why there can be none.

    `merged`: with what the user typed since; `is_proven`: the result was verified with exactly these texts.
    """

    files: Sequence[FileChange] = ()
    changes: Sequence[TextChange] = ()
    merged: bool = False
    is_proven: bool = True
    reason: str = ""


def as_saved(root: Path, texts: Mapping[str, str | None]) -> dict[str, bytes | None]:
    """The files as an editor would save these texts, but with plain line ends, as the engine has them."""
    return {
        path: None if text is None else encode_as_saved(normalize(text), root / path) for path, text in texts.items()
    }


def with_plain_ends(outcome: Outcome) -> Outcome:
    """The outcome, as it compares with `as_saved`."""
    before = {path: None if text is None else normalize(text) for path, text in outcome.before.items()}
    return replace(outcome, before=before, after={path: normalize(text) for path, text in outcome.after.items()})


class EditPlanner:
    """Compares results with the editor's current texts."""

    def __init__(self, editor: Editor) -> None:
        self._client, self._documents = editor.client, editor.documents

    def texts(self, run: Run) -> dict[str, str | None]:
        """The current texts of the files that the result changes, or was verified with."""
        return {path: self._documents.text(run.root / path) for path in {**run.changes, **self.originals(run)}}

    def originals(self, run: Run) -> dict[str, str | None]:
        """The texts that the result was verified with; of an earlier server's run whose tests changed, none of them."""
        originals = run.started.problem.originals if run.started else {}
        if run.result.tests_changed:
            return dict.fromkeys(originals)
        return {path: None if text is None else normalize(text) for path, text in originals.items()}

    def plan(self, run: Run, texts: Mapping[str, str | None] | None = None) -> EditPlan:
        """The remaining changes of these texts, by default the current ones. Long texts take time."""
        texts = self.texts(run) if texts is None else texts
        assert run.outcome is not None
        outcome, data = with_plain_ends(run.outcome), as_saved(run.root, texts)
        for path in run.changes:
            if outcome.before.get(path) is None and texts[path] is None and not self._client.capabilities.create_files:
                return EditPlan(reason=f"this editor cannot create {path}")
        try:
            planned = plan_texts(outcome, data)
        except WorkspaceError as error:
            return EditPlan(reason=str(error).rstrip("."))
        changes = [*self._text_changes(run, planned, texts)]
        if reason := self._conflict_reason(run, changes):
            return EditPlan(reason=reason)
        stale = find_stale(planned, self.originals(run), data)
        is_proven = not stale or not outcome.solved
        if not is_proven and run.session is not None:
            is_proven = run.session.is_proven(texts_to_verify(planned, stale))
        merged = any(change.is_merged for change in planned)
        return EditPlan(files=planned, changes=changes, merged=merged, is_proven=is_proven)

    def plan_undo(self, run: Run) -> EditPlan:
        """The changes that take an applied result out of the current texts, and leave newly typed text as it is."""
        changes = []
        for path, (before, after) in run.result.applied_texts.items():
            current = self._documents.text(run.root / path) or ""
            text = merge(normalize(after), normalize(before), normalize(current))
            if text is None:
                return EditPlan(reason="you have edited the same lines since")
            changes.append(TextChange(path=path, current=current, new=restore_style(current, text)))
        return EditPlan(changes=changes, reason=self._conflict_reason(run, changes))

    def _text_changes(
        self, run: Run, planned: Sequence[FileChange], texts: Mapping[str, str | None]
    ) -> Iterator[TextChange]:
        for change in planned:
            if change.new != change.old:
                current, text = texts[change.path], decode(change.new)[0]
                # A new file has the line ends of the result, any other those of the editor.
                new = restore_style(current, text) if current else run.changes[change.path]
                yield TextChange(path=change.path, current=current, new=new)

    def _conflict_reason(self, run: Run, changes: Sequence[TextChange]) -> str:
        """Returns why a file cannot take its change (it changed on disk, a change spans parts); empty where all can."""
        for change in changes:
            path = run.root / change.path
            if (composite := self._documents.composite(path, run.root)) is not None:
                if composite.changes(change.current or "", change.new) is None:
                    return f"one change would span several cells of {composite.path}"
            elif reason := self._documents.conflicts.conflict_reason(path, change.path, change.current or ""):
                return reason
        return ""

    def sandbox_files(self, run: Run, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The merged files as the sandbox needs them, with all open texts, and those that were unsaved at the start.

        Raises `UsageError` for a composite file that no longer has the target.
        """
        unsaved = run.started.problem.buffers if run.started else {}
        texts = {path: self._documents.text(run.root / path) for path in unsaved} | self._documents.open_texts(run.root)
        current = {path: encode_as_saved(text, run.root / path) for path, text in texts.items() if text is not None}
        composite = self._documents.composite(run.root / run.target.path, run.root)
        if composite is None:
            return {**current, **files}
        merged = {path: decode(data)[0] for path, data in files.items()}
        return {**current, **files, **composite.merged_buffers(run.target, merged)}

    def workspace_edit(self, run: Run, changes: Sequence[TextChange]) -> lsp.WorkspaceEdit:
        """The changes as an edit of the editor's documents."""
        documents = self._documents
        edits: list[DocumentEdit] = []
        for change in changes:
            path = run.root / change.path
            if documents.composites.at(path) is not None:
                edits += self._part_edits(run, change)
                continue
            document = documents.document_at(path)
            version = document.version if document else None
            edits.append(
                DocumentEdit(uri=documents.uri_of(path), before=change.current, after=change.new, version=version)
            )
        codec = documents.position_codec
        return workspace_edit(edits, codec, document_changes=self._client.capabilities.document_changes)

    def _part_edits(self, run: Run, change: TextChange) -> list[DocumentEdit]:
        """A composite file's change as changes of its documents."""
        documents, path = self._documents, run.root / change.path
        composite = documents.composite(path, run.root)
        changes = composite.changes(change.current or "", change.new) if composite else None
        uris = [uri for uri, _lines_before in documents.documents_of(path)]
        return [
            DocumentEdit(uri=uris[n], before=before, after=after, version=documents.get_text_document(uris[n]).version)
            for n, before, after in changes or ()
        ]
