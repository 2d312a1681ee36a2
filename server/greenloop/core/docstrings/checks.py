"""A check that a docstring states: its test, and the line that the user reads."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from greenloop.core.docstrings import literals


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
