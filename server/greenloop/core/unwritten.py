"""Bodies that mean "implement me": what counts as one, and what their TODO comments say.

Only what is surely no code yet counts: to take a written function for a stub would hide it from repair.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Collection, Iterator

from greenloop.core.diff import flat
from greenloop.core.source import FUNCTIONS, Function, docstring, piece

_TODO = re.compile(r"#+:?\s*(?:TODO|FIXME|XXX)\b(?:\([^)]*\))?\s*[:\-]?\s*", re.IGNORECASE)
_REMARK = re.compile(rf"{_TODO.pattern}|#+:?\s*REVIEW(?:\([^)]*\))?\s*:\s*", re.IGNORECASE)
_SAYS = re.compile(r"\b(?:todo|fixme|not (?:yet )?implemented|unimplemented|implement (?:me|this|it))\b", re.IGNORECASE)
_ASSIGNING = (ast.Assign, ast.AnnAssign, ast.AugAssign)


def is_stub(node: Function, todo: Collection[int] = ()) -> bool:
    """Does the body do nothing yet?

    A docstring alone, `pass`, `...`, `raise NotImplementedError` (also behind assignments), another exception or
    `assert False` that says "not implemented" or "todo", and `return None` where there is a TODO comment. `todo` are
    the lines of such comments, as the node counts lines.
    """
    rest = node.body[1:] if docstring(node) else node.body
    if rest and _refuses(rest[-1]):
        return all(isinstance(item, _ASSIGNING) or _empty(item) for item in rest[:-1])
    last = node.end_lineno or node.lineno
    if rest and _returns_none(rest[-1]) and any(node.lineno <= line <= last for line in todo):
        rest = rest[:-1]
    return all(_empty(item) for item in rest)


def unwritten(text: str) -> bool:
    """Is the source of a function (also an indented one) only a place for code?

    A header with nothing but comments below it is, though Python does not read it.
    """
    text = flat(text)
    found = piece(text)
    if isinstance(found, SyntaxError):
        found = piece(f"{text.rstrip()}\n{_deepest(text)}pass\n") if _is_bare(text) else found
    if isinstance(found, SyntaxError):
        return False
    functions = [node for node in found.body if isinstance(node, FUNCTIONS)]
    lines = {line + found.shift for line, comment in comments(text) if _TODO.match(comment)}
    return bool(functions) and all(is_stub(node, lines) for node in functions)


def todo(text: str) -> str:
    """What the TODO comments in a piece of source say, one a row; comment lines that follow one belong to it."""
    return _said(_TODO, text)


def remarks(text: str) -> str:
    """What the TODO and `# review:` comments in a piece of source ask for, as `todo`."""
    return _said(_REMARK, text)


def _said(pattern: re.Pattern[str], text: str) -> str:
    said: list[str] = []
    before = 0
    for line, comment in comments(flat(text)):
        if match := pattern.match(comment):
            said.append(comment[match.end() :].strip())
            before = line
        elif before and line == before + 1:
            said[-1] = f"{said[-1]} {comment.lstrip('#').strip()}".strip()
            before = line
    return "\n".join(row for row in said if row)


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Each comment of a text with plain line ends, and its line; up to where the text cannot be read."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError):
        return


def _empty(node: ast.stmt) -> bool:
    is_dots = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is Ellipsis
    return isinstance(node, ast.Pass) or is_dots


def _refuses(node: ast.stmt) -> bool:
    """Does it only say that there is nothing yet?"""
    if isinstance(node, ast.Assert):
        never = isinstance(node.test, ast.Constant) and not node.test.value
        return never and node.msg is not None and _says_so(node.msg)
    if not isinstance(node, ast.Raise) or node.exc is None:
        return False
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if isinstance(raised, ast.Name) and raised.id in ("NotImplementedError", "NotImplemented"):
        return True
    return isinstance(node.exc, ast.Call) and any(_says_so(argument) for argument in node.exc.args[:1])


def _says_so(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_SAYS.search(node.value))


def _returns_none(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Return):
        return False
    return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)


def _is_bare(text: str) -> bool:
    """Is the last row with code on it the end of a header?"""
    rows = [row.partition("#")[0].rstrip() for row in text.split("\n")]
    return next((row for row in reversed(rows) if row), "").endswith(":")


def _deepest(text: str) -> str:
    """A margin deeper than that of the header."""
    header = next((row for row in reversed(text.split("\n")) if row.partition("#")[0].strip()), "")
    return header[: len(header) - len(header.lstrip())] + "    "
