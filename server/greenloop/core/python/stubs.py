"""Recognises stubs (function bodies that mean "implement me") and reads their TODO comments.

Only certain cases count: to take a written function for a stub would exclude it from repair.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Collection, Iterator

from greenloop.core.python.ast_source import FUNCTIONS, Function, docstring_statement, parse_fragment
from greenloop.core.text.diff import with_plain_ends

_TODO = re.compile(r"#+:?\s*(?:TODO|FIXME|XXX)\b(?:\([^)]*\))?\s*[:\-]?\s*", re.IGNORECASE)
_REMARK = re.compile(rf"{_TODO.pattern}|#+:?\s*REVIEW(?:\([^)]*\))?\s*:\s*", re.IGNORECASE)
_SAYS = re.compile(r"\b(?:todo|fixme|not (?:yet )?implemented|unimplemented|implement (?:me|this|it))\b", re.IGNORECASE)
_ASSIGNING = (ast.Assign, ast.AnnAssign, ast.AugAssign)


def is_stub(node: Function, todo: Collection[int] = ()) -> bool:
    """Is the body a placeholder?

    True for a docstring alone, `pass`, `...`, `raise NotImplementedError` (also after assignments), another exception
    or `assert False` that says "not implemented" or "todo", and `return None` with a TODO comment. `todo_lines` are the
    lines of TODO comments, as the node counts lines.
    """
    statements = node.body[1:] if docstring_statement(node) else node.body
    if statements and _raises_not_implemented(statements[-1]):
        return all(isinstance(item, _ASSIGNING) or _is_empty(item) for item in statements[:-1])
    last_line = node.end_lineno or node.lineno
    if statements and _returns_none(statements[-1]) and any(node.lineno <= line <= last_line for line in todo):
        statements = statements[:-1]
    return all(_is_empty(item) for item in statements)


def is_unwritten(text: str) -> bool:
    """Is the source of a function (also an indented one) only a stub, or that of a class with stubs for methods?

    A header with only comments below it counts too, although Python cannot parse it.
    """
    text = with_plain_ends(text)
    fragment = parse_fragment(text)
    if isinstance(fragment, SyntaxError):
        fragment = (
            parse_fragment(f"{text.rstrip()}\n{_deeper_indent(text)}pass\n") if _ends_with_header(text) else fragment
        )
    if isinstance(fragment, SyntaxError):
        return False
    body = [*fragment.body, *(item for node in fragment.body if isinstance(node, ast.ClassDef) for item in node.body)]
    functions = [node for node in body if isinstance(node, FUNCTIONS)]
    todo_lines = {line + fragment.shift for line, comment in find_comments(text) if _TODO.match(comment)}
    return bool(functions) and all(is_stub(node, todo_lines) for node in functions)


def remark_text(text: str) -> str:
    """The texts of the TODO and `# review:` comments, one a row; comment lines that follow one belong to it."""
    return _comment_texts(_REMARK, text)


def _comment_texts(pattern: re.Pattern[str], text: str) -> str:
    texts: list[str] = []
    last_line = 0
    for line, comment in find_comments(with_plain_ends(text)):
        if match := pattern.match(comment):
            texts.append(comment[match.end() :].strip())
            last_line = line
        elif last_line and line == last_line + 1:
            texts[-1] = f"{texts[-1]} {comment.lstrip('#').strip()}".strip()
            last_line = line
    return "\n".join(row for row in texts if row)


def find_todos(text: str) -> Iterator[tuple[int, str]]:
    """Yields line and text of each TODO comment in a text with plain line ends."""
    yield from ((line, comment) for line, comment in find_comments(text) if _TODO.match(comment))


def find_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yields line and text of each comment in a text with plain line ends, up to the first tokenizer error."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError):
        return


def _is_empty(node: ast.stmt) -> bool:
    is_dots = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is Ellipsis
    return isinstance(node, ast.Pass) or is_dots


def _raises_not_implemented(node: ast.stmt) -> bool:
    """Does the statement only say that the function is not implemented?"""
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


def _ends_with_header(text: str) -> bool:
    """Does the last row with code end a header?"""
    rows = [row.partition("#")[0].rstrip() for row in text.split("\n")]
    return next((row for row in reversed(rows) if row), "").endswith(":")


def _deeper_indent(text: str) -> str:
    """An indentation deeper than that of the header."""
    header = next((row for row in reversed(text.split("\n")) if row.partition("#")[0].strip()), "")
    return header[: len(header) - len(header.lstrip())] + "    "
