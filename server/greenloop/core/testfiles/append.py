"""Writes tests in the style of a test file (kind, indentation, imports) and appends them.

Pure text work on `ast`. Nothing in the file is changed: imports are added, tests are appended. Quotes and line width
are left to the project's own formatter, which this module does not know.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from greenloop.core.compose import insert_imports
from greenloop.core.python.ast_source import FUNCTIONS, parse_module, statements_of, walk_code
from greenloop.core.python.indentation import indentation_unit
from greenloop.core.testfiles.imports import TargetImports
from greenloop.core.text.diff import main_line_end, split_lines, with_plain_ends


class FileForm(StrEnum):
    """The form of a file's tests: functions, methods of plain classes, or methods of `unittest.TestCase`s."""

    FUNCTIONS = "functions"
    CLASSES = "classes"
    UNITTEST = "unittest"


@dataclass(frozen=True, kw_only=True)
class FileStyle:
    """The style of a test file. `base` is its spelling of the base class of unittest classes."""

    kind: FileForm = FileForm.FUNCTIONS
    unit: str = "    "
    base: str = "unittest.TestCase"


@dataclass(frozen=True, kw_only=True)
class RenderedTest:
    """A test to append: its name, its statements without imports of the module, and what these need.

    `uses` are names of the module under test; `imports` whole import statements; `remark` is its origin.
    """

    case: str
    name: str
    body: str
    uses: tuple[str, ...]
    imports: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    remark: str = ""


def detect_style(text: str) -> FileStyle:
    """The style of a file; functions in four spaces for an empty file."""
    module = parse_module(with_plain_ends(text))
    if isinstance(module, SyntaxError) or not module.body:
        return FileStyle()
    classes = [node for node in module.body if isinstance(node, ast.ClassDef) and any(map(_is_test, node.body))]
    bases = [ast.unparse(base) for node in classes for base in node.bases if ast.unparse(base).endswith("TestCase")]
    function_count = sum(_is_test(node) for node in module.body)
    method_count = sum(_is_test(item) for node in classes for item in node.body)
    kind = FileForm.FUNCTIONS if function_count >= method_count else FileForm.UNITTEST if bases else FileForm.CLASSES
    # A base class of the project may require set-up that these tests do not have.
    plain_bases = [base for base in bases if base in ("TestCase", "unittest.TestCase")]
    return FileStyle(
        kind=kind,
        unit=indentation_unit(text),
        base=plain_bases[0] if plain_bases else "unittest.TestCase",
    )


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, FUNCTIONS) and node.name.startswith("test")


# -- new tests ----------------------------------------------------------------------------------------------------


def render_tests(style: FileStyle, spellings: TargetImports, tests: Sequence[RenderedTest], title: str) -> str:
    """The code of these tests, without imports; `title` names the class where tests are methods."""
    blocks = [_render_test(test, style, spellings) for test in tests]
    if style.kind is FileForm.FUNCTIONS:
        code = "\n\n\n".join(blocks)
    else:
        header = f"class {title}({style.base}):" if style.kind is FileForm.UNITTEST else f"class {title}:"
        code = f"{header}\n" + textwrap.indent("\n\n".join(blocks), "    ")
    return re.sub(r"^(?: {4})+", lambda margin: style.unit * (len(margin[0]) // 4), code, flags=re.MULTILINE) + "\n"


def append_tests(
    text: str, style: FileStyle, spellings: TargetImports, tests: Sequence[RenderedTest], code: str
) -> str:
    """The file with `code`, which is that of these tests, at its end and the imports that they need.

    An `if __name__ == "__main__"` block stays last.
    """
    required_imports = dict.fromkeys([*(line for test in tests for line in test.imports), *spellings.imports])
    if style.kind is FileForm.UNITTEST:
        required_imports["from unittest import TestCase" if style.base == "TestCase" else "import unittest"] = None
        required_imports.pop("import pytest", None)
    imported = _imported_names(text)
    rows = with_plain_ends(code).rstrip("\n").split("\n")
    return _insert_rows(text, rows, [line for line in required_imports if not _imported_names(line) <= imported])


def _insert_rows(text: str, rows: Sequence[str], imports: Sequence[str]) -> str:
    newline = main_line_end(text)
    old_lines = split_lines(text)
    parsed = parse_module(with_plain_ends(text))
    assert isinstance(parsed, ast.Module)
    bare_rows = [line.rstrip("\r\n") for line in old_lines]
    position = _insertion_line(parsed, bare_rows)
    if position and not old_lines[position - 1].endswith(("\n", "\r")):
        old_lines[position - 1] += newline
    blank_rows = next((number for number in range(position) if bare_rows[position - 1 - number].strip()), position)
    if not parsed.body:
        rows = [*imports, *(["", ""] if imports else []), *rows]
        imports = ()
    new_rows = [
        *[""] * (max(2 - blank_rows, 0) if position else 0),
        *rows,
        *(["", ""] if position < len(old_lines) else []),
    ]
    new_lines = [*old_lines[:position], *(row.rstrip() + newline for row in new_rows), *old_lines[position:]]
    insert_imports(new_lines, parsed, bare_rows, imports, newline)
    return "".join(new_lines)


def _insertion_line(module: ast.Module, bare: Sequence[str]) -> int:
    """0-based line at which tests are inserted: the end, or the start of an `if __name__ == "__main__"` block."""
    if module.body and isinstance(last := module.body[-1], ast.If) and "__name__" in ast.unparse(last.test):
        at = last.lineno - 1
        while at and bare[at - 1].startswith("#"):
            at -= 1
        return at
    return len(bare)


def _imported_names(text: str) -> set[str]:
    """Each name that is imported at the top level, as a statement of its own."""
    names: set[str] = set()
    for node in statements_of(text):
        if isinstance(node, ast.Import):
            names |= {ast.unparse(ast.Import([alias])) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {ast.unparse(ast.ImportFrom(node.module, [alias], node.level)) for alias in node.names}
    return names


def new_tests(
    text: str, style: FileStyle, spellings: TargetImports, tests: Sequence[RenderedTest]
) -> list[RenderedTest]:
    """The tests whose body no function of the file already has."""
    existing = {_body_key(node.body) for node in walk_code(text) if isinstance(node, FUNCTIONS)}
    return [test for test in tests if _body_key(_body(test, style, spellings)) not in existing]


def _body_key(body: Sequence[ast.stmt]) -> str:
    return "\n".join(ast.unparse(ast.fix_missing_locations(node)) for node in body)


def _body(test: RenderedTest, style: FileStyle, spellings: TargetImports) -> list[ast.stmt]:
    module = ast.parse(test.body)
    _SpellingTransformer(spellings.spellings).visit(module)
    return [_to_unittest_assertion(node) for node in module.body] if style.kind is FileForm.UNITTEST else module.body


def _render_test(test: RenderedTest, style: FileStyle, spellings: TargetImports) -> str:
    parameters = test.parameters if style.kind is FileForm.FUNCTIONS else ("self", *test.parameters)
    rows = [f"# {test.remark}"] if test.remark else []
    rows += [*(f"@{each}" for each in test.decorators), f"def {test.name}({', '.join(parameters)}):"]
    return "\n".join([*rows, textwrap.indent(_body_key(_body(test, style, spellings)), "    ")])


class _SpellingTransformer(ast.NodeTransformer):
    """Replaces names of the module under test by their spelling in the file."""

    def __init__(self, spelled: Mapping[str, str]) -> None:
        self.spelled = spelled

    def visit_Name(self, node: ast.Name) -> ast.expr:
        spelling = self.spelled.get(node.id, node.id)
        if not isinstance(node.ctx, ast.Load) or spelling == node.id:
            return node
        expression: ast.expr = ast.parse(spelling, mode="eval").body
        return expression


def _to_unittest_assertion(node: ast.stmt) -> ast.stmt:
    """Translates a plain assertion to a unittest method call."""
    if isinstance(node, ast.With) and isinstance(call := node.items[0].context_expr, ast.Call):
        if ast.unparse(call.func).rpartition(".")[2] == "raises":
            call.func = _attribute("assertRaises")
        return node
    if not isinstance(node, ast.Assert):
        return node
    test = node.test
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and node.msg is None:
        method = {ast.Eq: "assertEqual", ast.Is: "assertIs", ast.NotEq: "assertNotEqual", ast.In: "assertIn"}.get(
            type(test.ops[0])
        )
        if method and "approx" not in ast.unparse(test):
            return _method_call(method, [test.left, test.comparators[0]])
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _method_call("assertFalse", [test.operand, *([node.msg] if node.msg else [])])
    return _method_call("assertTrue", [test, *([node.msg] if node.msg else [])])


def _attribute(name: str) -> ast.Attribute:
    return ast.Attribute(value=ast.Name(id="self", ctx=ast.Load()), attr=name, ctx=ast.Load())


def _method_call(method: str, arguments: list[ast.expr]) -> ast.stmt:
    return ast.Expr(value=ast.Call(func=_attribute(method), args=arguments, keywords=[]))
