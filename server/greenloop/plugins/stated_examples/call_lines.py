"""Finds calls of the function under test in prose, and the checks that a docstring states of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.core.python.ast_source import UNPARSABLE
from greenloop.drafting.candidates.checks.signature import takes_arguments
from greenloop.plugins.function_calls import literals
from greenloop.plugins.function_calls.brackets import closing_position

CALLS = 200  # mentions of the function that are read
_ATTRIBUTE = re.compile(r"\.[A-Za-z_]\w*(?=[.(\[])")


@dataclass(frozen=True, kw_only=True)
class DocumentedFunction:
    """The function under test: the name that a test imports, a method's own name, exceptions of its module."""

    name: str
    method: str = ""
    exceptions: frozenset[str] = frozenset()

    def is_called_in(self, node: ast.AST) -> bool:
        """Is it called there? For a method, its class must be named too."""
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        called = {ast.unparse(inner.func) for inner in ast.walk(node) if isinstance(inner, ast.Call)}
        last = self.method or self.name
        return self.name in names and any(text.rpartition(".")[2] == last for text in called)

    def is_callee(self, call: ast.Call) -> bool:
        """Is the function itself called, and not another one around it?"""
        callee = ast.unparse(call.func).rpartition(".")[2]
        return self.is_called_in(call.func) or (self.is_called_in(call) and callee == (self.method or self.name))


def find_plain_call(node: ast.AST | None, subject: DocumentedFunction) -> ast.Call | None:
    """The node where it calls the function itself with literal arguments, else None."""
    return node if isinstance(node, ast.Call) and subject.is_callee(node) and is_literal(node, subject) else None


def find_names(text: str, subject: DocumentedFunction) -> Iterator[re.Match[str]]:
    pattern = re.compile(rf"(?<![\w.]){re.escape(subject.name)}(?=[.(\[])")
    for number, match in enumerate(pattern.finditer(text)):
        if number == CALLS:
            return
        yield match


def primary_end(text: str, end: int) -> int:
    """The end of a name with its calls, subscripts and attributes."""
    while True:
        if text[end : end + 1] in ("(", "["):
            after_bracket = closing_position(text, end)
            if after_bracket is None:
                return end
            end = after_bracket
        elif attribute := _ATTRIBUTE.match(text, end):
            end = attribute.end()
        else:
            return end


def is_literal(node: ast.Call, subject: DocumentedFunction) -> bool:
    """Are all arguments literals, or calls of the function with literals?"""
    parts = (*node.args, *(key.value for key in node.keywords))
    if any(key.arg is None for key in node.keywords):
        return False
    inner_call = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(inner_call, ast.Call) and not is_literal(inner_call, subject):
        return False
    return all(literals.is_value(part) or (find_plain_call(part, subject) is not None) for part in parts)


def is_call_allowed(header: str, call: ast.Call) -> bool:
    """Does the header allow this call? True where the header cannot be parsed or does not decide it."""
    parameters = header_parameters(header)
    return parameters is None or not isinstance(call.func, ast.Name) or takes_arguments(parameters, call)


def header_parameters(header: str) -> ast.arguments | None:
    """The parameters in a function's header; None for a class or a header that cannot be parsed."""
    try:
        node = ast.parse(f"{header} ...").body[0]
    except (*UNPARSABLE, IndexError):
        return None
    return node.args if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else None


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """A requirement in a text. `body` is the code of its test, `shown` the line that the user reads.

    `call` and `expected` (or `raises`) are the two sides of an equation; `row` counts from 0.
    """

    row: int
    body: str
    shown: str
    call: str = ""
    expected: str = ""
    raises: str = ""
    imports: tuple[str, ...] = ()


def make_requirement(row: int, node: ast.Call, expected: str, raises: str) -> Requirement:
    call = ast.unparse(node)
    if raises:
        return Requirement(
            row=row,
            body=f"with pytest.raises({raises}):\n    {call}",
            shown=f"with pytest.raises({raises}): {call}",
            call=call,
            raises=raises,
            imports=("import pytest", *literals.required_imports(node)),
        )
    value = literals.parse_expression(expected)
    expected_source = literals.expected_source(expected) or ast.unparse(value) if value else expected
    value_imports = literals.required_imports(ast.Tuple(elts=[node, value], ctx=ast.Load())) if value else ()
    shown = f"assert {call} == {expected_source}"
    return Requirement(
        row=row,
        body=shown,
        shown=shown,
        call=call,
        expected=ast.unparse(value) if value else expected,
        imports=(*(["import pytest"] if "pytest." in expected_source else []), *value_imports),
    )
