"""Wraps long lines at their brackets as black does: at the last bracket, then at each comma."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

_OPEN, _CLOSE = "([{", ")]}"


def wrap_line(line: str, width: int, unit: str) -> list[str]:
    """The lines of one statement, without line ends; a statement without a bracket stays long."""
    if len(line) <= width:
        return [line]
    margin = line[: len(line) - len(line.lstrip())]
    brackets = _last_bracket(line)
    if brackets is None:
        return [line]
    start, end = brackets
    body, deeper = line[start + 1 : end].strip(), margin + unit
    if not body:
        return [line]
    inner = [deeper + body]
    parts = list(_parts(body))
    has_commas = len(parts) > 1 or line[end - 1] == ","
    if len(inner[0]) > width and has_commas:
        inner = [row for part in parts for row in wrap_line(f"{deeper}{part},", width, unit)]
    elif len(inner[0]) > width:
        inner = wrap_line(inner[0], width, unit)
    return [line[: start + 1], *inner, margin + line[end:]]


def _tokens(line: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(line.strip() + "\n").readline))
    except (tokenize.TokenError, SyntaxError):
        return []


def _last_bracket(line: str) -> tuple[int, int] | None:
    """Columns of the last outermost pair of brackets that is not empty."""
    shift, depth, start = len(line) - len(line.lstrip()), 0, 0
    columns = None
    for token in _tokens(line):
        if token.type != tokenize.OP:
            continue
        if token.string in _OPEN:
            start = token.start[1] if depth == 0 else start
            depth += 1
        elif token.string in _CLOSE:
            depth -= 1
            if depth == 0 and token.start[1] > start + 1:
                columns = start + shift, token.start[1] + shift
    return columns


def _parts(body: str) -> Iterator[str]:
    """Yields the text between top-level commas; a comprehension or generator is one part."""
    depth, part_start = 0, 0
    for token in _tokens(f"({body})"):
        if token.type == tokenize.OP and token.string in _OPEN:
            depth += 1
        elif token.type == tokenize.OP and token.string in _CLOSE:
            depth -= 1
        elif token.string == "," and depth == 1:
            yield body[part_start : token.start[1] - 1].strip()
            part_start = token.start[1]
    if last_part := body[part_start:].strip():
        yield last_part
