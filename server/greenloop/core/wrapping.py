"""Long lines broken at their brackets, as black does it: the last bracket opens a line of its own, then each comma."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

_OPEN, _CLOSE = "([{", ")]}"


def wrapped(line: str, width: int, unit: str) -> list[str]:
    """The lines of one statement without line ends; one that has no bracket to break at stays long."""
    if len(line) <= width:
        return [line]
    margin = line[: len(line) - len(line.lstrip())]
    found = _last_bracket(line)
    if found is None:
        return [line]
    start, end = found
    body, deeper = line[start + 1 : end].strip(), margin + unit
    if not body:
        return [line]
    inner = [deeper + body]
    parts = list(_parts(body))
    several = len(parts) > 1 or line[end - 1] == ","
    if len(inner[0]) > width and several:
        inner = [row for part in parts for row in wrapped(f"{deeper}{part},", width, unit)]
    elif len(inner[0]) > width:
        inner = wrapped(inner[0], width, unit)
    return [line[: start + 1], *inner, margin + line[end:]]


def _tokens(line: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(line.strip() + "\n").readline))
    except (tokenize.TokenError, SyntaxError):
        return []


def _last_bracket(line: str) -> tuple[int, int] | None:
    """Columns of the last pair of brackets that stands in no other one and holds something."""
    shift, depth, start = len(line) - len(line.lstrip()), 0, 0
    found = None
    for token in _tokens(line):
        if token.type != tokenize.OP:
            continue
        if token.string in _OPEN:
            start = token.start[1] if depth == 0 else start
            depth += 1
        elif token.string in _CLOSE:
            depth -= 1
            if depth == 0 and token.start[1] > start + 1:
                found = start + shift, token.start[1] + shift
    return found


def _parts(body: str) -> Iterator[str]:
    """What stands between the commas that are in no bracket; a comprehension and a generator are one part."""
    depth, last = 0, 0
    for token in _tokens(f"({body})"):
        if token.type == tokenize.OP and token.string in _OPEN:
            depth += 1
        elif token.type == tokenize.OP and token.string in _CLOSE:
            depth -= 1
        elif token.string == "," and depth == 1:
            yield body[last : token.start[1] - 1].strip()
            last = token.start[1]
    if rest := body[last:].strip():
        yield rest
