"""Reads unified diffs in a model's answer leniently, since models seldom count lines correctly.

Line numbers are hints, headers of any kind are skipped, and lines without their leading space are context.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.core.python.ast_source import Fragment, parse_fragment
from greenloop.drafting.candidates.answers.code_blocks import BlockEdit, defined_names, find_blocks

_HUNK = re.compile(r"^@@(?:[ \t]*-(\d+)(?:,\d+)?[ \t]+\+\d+(?:,\d+)?)?.*$")
_OLD, _NEW = re.compile(r"^--- \S"), re.compile(r"^\+\+\+ \S")
_HEAD = re.compile(
    r"^(?:diff --git |index [0-9a-f]+\.\.|(?:new|deleted) file mode |(?:old|new) mode |similarity index )"
)
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(\w*)[ \t]*$")
NO_FILE = "/dev/null"  # in place of a new or deleted file
_HINT = re.compile(r"^(?:@@|--- \S|[ \t]*(?:`{3,}|~{3,})[ \t]*(?:diff|patch|udiff)\b)", re.MULTILINE)


def find_edits(text: str, *, truncated: bool = False) -> list[BlockEdit]:
    r"""The hunks of an answer as edits, in order; empty where it has no diff. Lines must end with `\n`.

    `truncated`: the answer was cut off, so that a last hunk without an end is not closed.
    """
    if not _HINT.search(text) or _has_code(text):
        return []
    hunks = [hunk for hunk in _hunks(text.split("\n")) if any(row.startswith(("+", "-")) for row in hunk.rows)]
    return [_as_edit(hunk, closed=hunk.ended or not truncated) for hunk in hunks]


@dataclass(frozen=True, kw_only=True)
class _Hunk:
    """The line number (0: none), the files before and after, and the lines of a hunk; `ended`: its end was found."""

    hint: int
    files: tuple[str, str]
    rows: list[str]
    ended: bool


def _hunks(lines: Sequence[str]) -> Iterator[_Hunk]:
    hint = 0
    files = ("", "")
    rows: list[str] = []
    in_hunk, in_fence, is_diff_block = False, False, False
    for number, line in enumerate(lines):
        if fence := _FENCE.match(line):
            if in_hunk:
                yield _Hunk(hint=hint, files=files, rows=rows, ended=True)
            in_fence = not in_fence
            is_diff_block = in_fence and fence[1].lower() in ("diff", "patch", "udiff")
            hint, rows, in_hunk = 0, [], is_diff_block
            continue
        header = _HEAD.match(line) or (_OLD.match(line) and _NEW.match((*lines[number + 1 : number + 2], "")[0]))
        is_new_file = number and _OLD.match(lines[number - 1]) and _NEW.match(line)
        if header or is_new_file or (mark := _HUNK.match(line)):
            if in_hunk:
                yield _Hunk(hint=hint, files=files, rows=rows, ended=True)
            hint, rows = 0, []
            if _OLD.match(line) and header:
                files = (_path(line), _path(lines[number + 1]))
            in_hunk = bool(is_new_file) or is_diff_block or not (header or is_new_file)
            if not header and not is_new_file and mark and mark[1]:
                hint = int(mark[1])
            continue
        if in_hunk and not line.startswith("\\"):
            rows.append(line)
    if in_hunk:
        yield _Hunk(hint=hint, files=files, rows=rows, ended=False)


def _path(header: str) -> str:
    """The file that `--- a/m.py` or `+++ b/m.py` names; "" for no file."""
    words = header[4:].partition("\t")[0].strip()
    return "" if words == NO_FILE else re.sub(r"^[ab]/", "", words)


def _has_code(text: str) -> bool:
    """Is there a definition in a Python block? It takes precedence over any diff."""
    python_blocks = (
        block for block in find_blocks(text) if block.is_fenced and block.is_python and defined_names(block.text)
    )
    return any(isinstance(parse_fragment(block.text), Fragment) for block in python_blocks)


def _as_edit(hunk: _Hunk, *, closed: bool) -> BlockEdit:
    """One hunk as an edit. Blank lines at its ends belong to the prose around it."""
    rows: Sequence[str] = hunk.rows
    search: list[str] = []
    replace: list[str] = []
    kept: list[int | None] = []
    removed: list[int] = []
    while rows and not rows[-1].strip():
        rows = rows[:-1]
    while rows and not rows[0].strip():
        rows = rows[1:]
    for row in rows:
        if row.startswith("+"):
            replace.append(row[1:])
            kept.append(None)
        elif row.startswith("-"):
            removed.append(len(search))
            search.append(row[1:])
        else:
            kept.append(len(search))
            line = row.removeprefix(" ")
            search.append(line)
            replace.append(line)
    return BlockEdit(
        search=tuple(search),
        replace=tuple(replace),
        closed=closed,
        origins=tuple(kept),
        anchor=next((n for n in removed if search[n].strip()), None),
        line_hint=hunk.hint,
        path=hunk.files[1] or hunk.files[0],
        is_deletion=bool(hunk.files[0]) and not hunk.files[1],
    )
