"""Between the core's nouns and the protocol's: pure functions, no server and no connection in here.

The core counts lines from 1, the protocol from 0. Edits replace whole lines, so columns matter at the file's end only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol import types as lsp
from pygls.workspace import PositionCodec

from greenloop.core.diff import Hunk, hunks, lines

Line = Callable[[int], int]


@dataclass(frozen=True, kw_only=True)
class FileEdit:
    """One file's change. `before` None: the file is new. `version` is None for a file that is not open."""

    uri: str
    before: str | None
    after: str
    version: int | None = None


def line_range(line: int, text: str = "", codec: PositionCodec | None = None) -> lsp.Range:
    """The text of a 1-based line without its indentation; the line's first column where `text` is not known."""
    row = max(line - 1, 0)
    rows = lines(text)
    body = rows[row].rstrip("\r\n") if row < len(rows) else ""
    units = (codec or PositionCodec()).client_num_units
    start = units(body[: len(body) - len(body.lstrip())]) if body.strip() else 0
    end = max(units(body.rstrip()), start)
    return lsp.Range(start=lsp.Position(line=row, character=start), end=lsp.Position(line=row, character=end))


def text_edits(before: str, after: str, codec: PositionCodec) -> list[lsp.TextEdit]:
    """The least whole-line edits that make `after` of `before`."""
    rows = lines(before)
    return [_text_edit(rows, hunk, codec) for hunk in hunks(before, after)]


def _text_edit(rows: Sequence[str], hunk: Hunk, codec: PositionCodec) -> lsp.TextEdit:
    def point(row: int) -> lsp.Position:
        if row < len(rows) or not rows or rows[-1][-1:] in "\r\n":
            return lsp.Position(line=row, character=0)
        # Past a last line that has no line end: its own end.
        return lsp.Position(line=row - 1, character=codec.client_num_units(rows[-1]))

    added, last = "".join(hunk.lines), rows[-1] if rows else ""
    body = last.rstrip("\r\n")
    end = last[len(body) :]
    if hunk.start == hunk.end == len(rows) and end and added.endswith(end):
        # Neovim 0.11 leaves an empty line behind what is added past the last line; at that line's end it does not.
        here = lsp.Position(line=len(rows) - 1, character=codec.client_num_units(body))
        return lsp.TextEdit(range=lsp.Range(start=here, end=here), new_text=end + added.removesuffix(end))
    # The same for an empty text: its one line is replaced as a whole, line end (which is not there) and all.
    past = hunk.end if rows else 1
    return lsp.TextEdit(range=lsp.Range(start=point(hunk.start), end=point(past)), new_text=added)


def workspace_edit(edits: Sequence[FileEdit], codec: PositionCodec, *, document_changes: bool) -> lsp.WorkspaceEdit:
    """Versioned `documentChanges` where declared, or where a file must be created; else plain `changes`."""
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


def old_line(old: str, new: str) -> Line:
    """From a 1-based line of `new` to that of `old`; 0 where the line is not in `old`."""
    table: dict[int, int] = {}
    shift = at = 0
    for hunk in hunks(old, new):
        table |= {line + 1 + shift: line + 1 for line in range(at, hunk.start)}
        at, shift = hunk.end, shift + len(hunk.lines) - (hunk.end - hunk.start)
    table |= {line + 1 + shift: line + 1 for line in range(at, len(lines(old)))}
    return lambda line: table.get(line, 0)


def contains(before: str, after: str, current: str) -> bool:
    """Whether `current` has all that `after` changed of `before`, whatever else was typed around it."""
    if current in (before, after):
        return current == after
    if not {*lines(after)} - {*lines(before)} <= {*lines(current)}:
        # Asked with every key: what became of a whole text need not be found out for that.
        return False
    shift, kept = 0, hunks(after, current)
    for hunk in hunks(before, after):
        start, end = hunk.start + shift, hunk.start + shift + len(hunk.lines)
        shift += len(hunk.lines) - (hunk.end - hunk.start)
        # What was deleted counts as changed again when something stands in its place.
        deleted = start == end and any(other.start <= start <= other.end for other in kept)
        if deleted or any(other.start < end and start < other.end for other in kept):
            return False
    # A line more, or one less, of several that are the same can be found where nothing was changed.
    return _size(kept) <= _size(hunks(before, current))


def _size(changes: Sequence[Hunk]) -> int:
    return sum(hunk.end - hunk.start + len(hunk.lines) for hunk in changes)


def action_kind(
    natural: lsp.CodeActionKind, only: Sequence[str | lsp.CodeActionKind] | None
) -> lsp.CodeActionKind | None:
    """The kind under which an action may be offered: its natural one, else a rewrite, else none at all."""
    for kind in (natural, lsp.CodeActionKind.RefactorRewrite):
        if only is None or any(within(kind.value, getattr(wanted, "value", wanted)) for wanted in only):
            return kind
    return None


def within(kind: str, wanted: str) -> bool:
    """Whether somebody who asks for `wanted` gets this kind: itself and what it is made of."""
    return not wanted or kind == wanted or kind.startswith(wanted + ".")


def flatten(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Nested settings as dotted keys; null means that an editor has nothing to say about a key."""
    result: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            result |= flatten(value, f"{prefix}{name}.")
        elif value is not None:
            result[prefix + name] = value
    return result


def command(title: str, name: str, argument: dict[str, object]) -> lsp.CodeAction:
    """A code action that does nothing but one of the server's commands."""
    return lsp.CodeAction(title=title, command=lsp.Command(title=title, command=name, arguments=[argument]))


def lowered(where: lsp.Range, rows: int) -> lsp.Range:
    """The range in a text that begins `rows` lines further down."""
    start, end = (lsp.Position(line=max(p.line - rows, 0), character=p.character) for p in (where.start, where.end))
    return lsp.Range(start=start, end=end)
