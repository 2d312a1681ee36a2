"""Calls of the function under test as they stand in plain text: where they are, where they end, whether they fit."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.core import values

CALLS = 200  # mentions of the function that are looked at
LONGEST = 2_000  # characters of one call or value
OPEN, CLOSED = "([{", ")]}"
_ATTRIBUTE = re.compile(r"\.[A-Za-z_]\w*(?=[.(\[])")
_QUOTED = re.compile(r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What the equations are about: the name that a test imports, a method's own name, and exceptions of the module."""

    name: str
    method: str = ""
    exceptions: frozenset[str] = frozenset()

    def called_in(self, node: ast.AST) -> bool:
        """Is it called there? Of a method its class must be named too."""
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        called = {ast.unparse(inner.func) for inner in ast.walk(node) if isinstance(inner, ast.Call)}
        last = self.method or self.name
        return self.name in names and any(text.rpartition(".")[2] == last for text in called)

    def is_callee(self, call: ast.Call) -> bool:
        """Is it the function itself that the call is of, and not one around it?"""
        return self.called_in(call.func) or (self.called_in(call) and _callee(call) == (self.method or self.name))


def _callee(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def plain(node: ast.AST | None, subject: Subject) -> ast.Call | None:
    """The node as a call of the subject itself with literal arguments, else None."""
    return node if isinstance(node, ast.Call) and subject.is_callee(node) and is_literal(node, subject) else None


def named(text: str, subject: Subject) -> Iterator[re.Match[str]]:
    pattern = re.compile(rf"(?<![\w.]){re.escape(subject.name)}(?=[.(\[])")
    for number, match in enumerate(pattern.finditer(text)):
        if number == CALLS:
            return
        yield match


def primary(text: str, end: int) -> int:
    """Where a name with its calls, items and attributes ends."""
    while True:
        if text[end : end + 1] in ("(", "["):
            closed = close(text, end)
            if closed is None:
                return end
            end = closed
        elif attribute := _ATTRIBUTE.match(text, end):
            end = attribute.end()
        else:
            return end


def close(text: str, start: int) -> int | None:
    """The place behind the bracket that closes the one at `start`."""
    depth, at = 0, start
    while at < min(len(text), start + LONGEST):
        sign = text[at]
        if sign in "\"'":
            at = quoted(text, at)
            continue
        depth += (sign in OPEN) - (sign in CLOSED)
        at += 1
        if not depth:
            return at
    return None


def quoted(text: str, start: int) -> int:
    """The place behind the string that begins at `start`, or behind its quote where it is not closed in its row."""
    quote = _QUOTED.match(text, start)
    return quote.end() if quote else start + 1


def is_literal(node: ast.Call, subject: Subject) -> bool:
    """Are all arguments values, or calls of the subject with such?"""
    parts = (*node.args, *(key.value for key in node.keywords))
    if any(key.arg is None for key in node.keywords):
        return False
    own = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(own, ast.Call) and not is_literal(own, subject):
        return False
    return all(values.is_value(part) or (plain(part, subject) is not None) for part in parts)


def fits(header: str, call: ast.Call) -> bool:
    """Can the function of that header be called so? Where the header cannot be read, or says nothing of it, yes."""
    args = arguments(header)
    if args is None or not isinstance(call.func, ast.Name) or any(isinstance(item, ast.Starred) for item in call.args):
        return True
    places = [*args.posonlyargs, *args.args]
    named = {key.arg for key in call.keywords}
    if len(call.args) > len(places) and not args.vararg:
        return False
    by_name = {item.arg for item in [*args.args, *args.kwonlyargs]}
    if named - by_name and not args.kwarg:
        return False
    needed = {item.arg for item in places[len(call.args) : len(places) - len(args.defaults)]}
    needed |= {item.arg for item, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default is None}
    return None in named or (needed <= named and not named & {item.arg for item in places[: len(call.args)]})


def arguments(header: str) -> ast.arguments | None:
    """The parameters in a function's header; None for a class, and where it cannot be read."""
    try:
        node = ast.parse(f"{header} ...").body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError, IndexError):
        return None
    return node.args if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else None
