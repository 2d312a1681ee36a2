"""Converts between core records and LSP types: pure functions, without server or connection.

The core counts lines from 1, the protocol from 0. Edits replace whole lines, so columns matter only at the file's end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lsprotocol import types as lsp
from pygls.workspace import PositionCodec

from greenloop.core.text.diff import Hunk, diff_hunks, split_lines

LineMap = Callable[[int], int]


@dataclass(frozen=True, kw_only=True)
class DocumentEdit:
    """One file's change. `before` None: the file is new. `version` is None for a file that is not open."""

    uri: str
    before: str | None
    after: str
    version: int | None = None


def line_range(line: int, text: str = "", codec: PositionCodec | None = None) -> lsp.Range:
    """The range of a 1-based line without its indentation; its first column where `text` is not known."""
    row = max(line - 1, 0)
    rows = split_lines(text)
    body = rows[row].rstrip("\r\n") if row < len(rows) else ""
    units = (codec or PositionCodec()).client_num_units
    start = units(body[: len(body) - len(body.lstrip())]) if body.strip() else 0
    end = max(units(body.rstrip()), start)
    return lsp.Range(start=lsp.Position(line=row, character=start), end=lsp.Position(line=row, character=end))


def text_edits(before: str, after: str, codec: PositionCodec) -> list[lsp.TextEdit]:
    """The minimal whole-line edits that turn `before` into `after`."""
    rows = split_lines(before)
    return [_text_edit(rows, hunk, codec) for hunk in diff_hunks(before, after)]


def _text_edit(rows: Sequence[str], hunk: Hunk, codec: PositionCodec) -> lsp.TextEdit:
    def point(row: int) -> lsp.Position:
        if row < len(rows) or not rows or rows[-1][-1:] in "\r\n":
            return lsp.Position(line=row, character=0)
        # Past a last line without line end: the end of that line.
        return lsp.Position(line=row - 1, character=codec.client_num_units(rows[-1]))

    added, last_line = "".join(hunk.lines), rows[-1] if rows else ""
    body = last_line.rstrip("\r\n")
    end = last_line[len(body) :]
    if hunk.start == hunk.end == len(rows) and end and added.endswith(end):
        # Neovim 0.11 leaves an empty line after text added past the last line, but not after text added at its end.
        end_of_text = lsp.Position(line=len(rows) - 1, character=codec.client_num_units(body))
        return lsp.TextEdit(range=lsp.Range(start=end_of_text, end=end_of_text), new_text=end + added.removesuffix(end))
    # For the same reason an empty text's one line is replaced as a whole, including the line end it does not have.
    end_row = hunk.end if rows else 1
    return lsp.TextEdit(range=lsp.Range(start=point(hunk.start), end=point(end_row)), new_text=added)


def workspace_edit(edits: Sequence[DocumentEdit], codec: PositionCodec, *, document_changes: bool) -> lsp.WorkspaceEdit:
    """Versioned `documentChanges` where declared or where a file must be created; else plain `changes`."""
    if not document_changes and all(edit.before is not None for edit in edits):
        return lsp.WorkspaceEdit(changes={edit.uri: text_edits(edit.before or "", edit.after, codec) for edit in edits})
    changes: list[lsp.TextDocumentEdit | lsp.CreateFile | lsp.RenameFile | lsp.DeleteFile] = []
    for edit in edits:
        if edit.before is None:
            options = lsp.CreateFileOptions(overwrite=False, ignore_if_exists=True)
            changes.append(lsp.CreateFile(uri=edit.uri, options=options))
        identifier = lsp.OptionalVersionedTextDocumentIdentifier(uri=edit.uri, version=edit.version)
        changes.append(
            lsp.TextDocumentEdit(text_document=identifier, edits=text_edits(edit.before or "", edit.after, codec))
        )
    return lsp.WorkspaceEdit(document_changes=changes)


def old_line(old: str, new: str) -> LineMap:
    """A map from 1-based lines of `new` to lines of `old`; 0 for a line that is not in `old`."""
    table: dict[int, int] = {}
    shift = next_row = 0
    for hunk in diff_hunks(old, new):
        table |= {line + 1 + shift: line + 1 for line in range(next_row, hunk.start)}
        next_row, shift = hunk.end, shift + len(hunk.lines) - (hunk.end - hunk.start)
    table |= {line + 1 + shift: line + 1 for line in range(next_row, len(split_lines(old)))}
    return lambda line: table.get(line, 0)


def action_kind(
    preferred: lsp.CodeActionKind, only: Sequence[str | lsp.CodeActionKind] | None
) -> lsp.CodeActionKind | None:
    """The kind under which an action may be offered: its preferred one, else a rewrite, else None."""
    for kind in (preferred, lsp.CodeActionKind.RefactorRewrite):
        if only is None or any(is_kind(kind.value, getattr(requested, "value", requested)) for requested in only):
            return kind
    return None


def is_kind(kind: str, requested: str) -> bool:
    """True if a request for the kind `requested` includes this kind: the same kind or one of its sub-kinds."""
    return not requested or kind == requested or kind.startswith(requested + ".")


def command(title: str, name: str, argument: dict[str, object]) -> lsp.CodeAction:
    """A code action that only runs one of the server's commands."""
    return lsp.CodeAction(title=title, command=lsp.Command(title=title, command=name, arguments=[argument]))


def relative_range(where: lsp.Range, rows: int) -> lsp.Range:
    """The range relative to a text that begins `rows` lines further down."""
    start, end = (lsp.Position(line=max(p.line - rows, 0), character=p.character) for p in (where.start, where.end))
    return lsp.Range(start=start, end=end)
