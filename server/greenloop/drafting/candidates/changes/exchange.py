"""Exchanges statements between two texts of the same function, where a merge by lines finds that their changes touch.

It must not know which of the two is better, or what either was made from.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations

from greenloop.core.python.ast_dump import dump_words
from greenloop.core.python.ast_source import Fragment, parse_fragment, start_line, statement_blocks

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
MOST = 24  # exchanges between two answers


@dataclass(frozen=True, kw_only=True)
class Piece:
    """The lines of a statement, of the head of a compound one, or of its `else`; equal code has equal keys.

    `kind` is the kind of the statement and how deep it is nested.
    """

    key: str
    kind: str
    lines: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Change:
    """Puts these pieces of another text in place of the pieces `start`..`end` (half open)."""

    start: int
    end: int
    pieces: tuple[Piece, ...]


def split_pieces(text: str) -> Sequence[Piece]:
    """A text of a function in pieces, in order; none where it cannot be parsed."""
    fragment = parse_fragment(text)
    if isinstance(fragment, SyntaxError):
        return ()
    keys: dict[int, list[str]] = {}
    for line, key in _keys(fragment, fragment.body, 0):
        keys.setdefault(line, []).append(key)
    first = fragment.shift + 1
    keys.setdefault(first, [])  # comments above the first statement
    starts = sorted(keys)
    ends = [*starts[1:], len(fragment.lines) + 1]
    return [
        Piece(
            key=" ".join(keys[start]),
            kind=" ".join(" ".join(keys[start]).split()[:2]),
            lines=fragment.lines[start - 1 : end - 1],
        )
        for start, end in zip(starts, ends, strict=True)
    ]


def _keys(fragment: Fragment, statements: Sequence[ast.stmt], depth: int) -> Iterator[tuple[int, str]]:
    """The first line and the key of each piece of these statements, of the blocks in them too."""
    for node in statements:
        yield start_line(node, fragment.lines), f"{depth} {_head(node)}"
        for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            head = part.pattern if isinstance(part, ast.match_case) else part
            yield head.lineno, f"{depth} {_head(part)}"
        for word, block in (("else", getattr(node, "orelse", [])), ("finally", getattr(node, "finalbody", []))):
            if block and (line := _line_of_word(fragment, word, block[0])):
                yield line, f"{depth} {word}"
        for block in statement_blocks(node):
            yield from _keys(fragment, block, depth + 1)


def _head(node: ast.AST) -> str:
    """Describes a statement without the blocks in it."""
    words = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        if name not in BLOCKS or not isinstance(value, list):
            nodes = value if isinstance(value, list) else [value]
            words += dump_words([each for each in nodes if isinstance(each, ast.AST)])
            words += [repr(each) for each in nodes if not isinstance(each, ast.AST)]
    return " ".join(words)


def _line_of_word(fragment: Fragment, word: str, first: ast.stmt) -> int:
    """The line of the `else` or `finally` above a block; 0 for an `elif`, which is a statement itself."""
    line = start_line(first, fragment.lines)
    if fragment.lines[line - 1].lstrip().startswith("elif"):
        return 0
    while line > 1 and not fragment.lines[line - 1].lstrip().startswith(word):
        line -= 1
    return line


def find_changes(old: Sequence[Piece], new: Sequence[Piece]) -> Sequence[Change]:
    """Finds the changes that turn the old text into the new one, in as small steps as possible.

    A piece takes the place of one of its kind; of others, the old ones can stay while the new ones come after them.
    """
    changes = []
    for old_start, old_end, new_start, new_end in _differences([each.key for each in old], [each.key for each in new]):
        i, j = old_start, new_start
        kinds = [each.kind for each in old[:old_end]], [each.kind for each in new[:new_end]]
        for old_index, new_index in _pairs(*kinds, i, j):
            changes += _steps(i, old_index, new[j:new_index])
            changes.append(Change(start=old_index, end=old_index + 1, pieces=(new[new_index],)))
            i, j = old_index + 1, new_index + 1
        changes += _steps(i, old_end, new[j:new_end])
    return changes


def find_differing_lines(old: str, new: str) -> list[str]:
    """The lines of each run of statements that only the new text has; the whole text where one has no pieces."""
    old_pieces, new_pieces = split_pieces(old), split_pieces(new)
    if not old_pieces or not new_pieces:
        return [new] if old != new else []
    differences = _differences([each.key for each in old_pieces], [each.key for each in new_pieces])
    runs = [[line for piece in new_pieces[start:end] for line in piece.lines] for _i, _j, start, end in differences]
    return ["\n".join(run) for run in runs if run]


def _steps(start: int, end: int, pieces: Sequence[Piece]) -> list[Change]:
    """The removal of these pieces, and the others in their place."""
    removal = [Change(start=start, end=end, pieces=())] if start < end else []
    return [*removal, *([Change(start=end, end=end, pieces=tuple(pieces))] if pieces else [])]


def _differences(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [places for tag, *places in opcodes if tag != "equal"]  # type: ignore[misc]


def _pairs(old: Sequence[str], new: Sequence[str], i: int, j: int) -> list[tuple[int, int]]:
    """The places of equal items from these places on, in order."""
    blocks = SequenceMatcher(None, old[i:], new[j:], autojunk=False).get_matching_blocks()
    return [(i + block.a + step, j + block.b + step) for block in blocks for step in range(block.size)]


def apply_changes(pieces: Sequence[Piece], changes: Sequence[Change]) -> str:
    """The text of the pieces with the changes, which must not overlap."""
    result = list(pieces)
    for change in sorted(changes, key=lambda change: (change.start, change.end), reverse=True):
        result[change.start : change.end] = change.pieces
    return "\n".join(line for piece in result for line in piece.lines)


def choices(count: int) -> Iterator[tuple[int, ...]]:
    """At most `MOST` choices of some of `count` changes, never all: one of them, all but one, two, all but two, …."""
    sizes = sorted(range(1, count), key=lambda size: (min(size, count - size), size))
    chosen = (each for size in sizes for each in combinations(range(count), size))
    yield from (each for each, _number in zip(chosen, range(MOST), strict=False))
