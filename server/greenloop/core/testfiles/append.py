"""Appends tests to a test file in its own style: kind, indentation, quotes, line width, imports.

Pure text work on `ast`. Nothing in the file is changed: imports are added, tests are appended.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from greenloop.core.compose import insert_imports
from greenloop.core.python.ast_source import FUNCTIONS, indentation_unit, parse_module
from greenloop.core.python.line_wrap import wrap_line
from greenloop.core.testfiles.imports import TargetImports
from greenloop.core.text.diff import main_line_end, split_lines, with_plain_ends

WIDTH = 88  # columns, the default of black
WIDEST = 120


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
    quote: str = '"'
    width: int = WIDTH
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
    """The style of a file; black's for an empty file."""
    module = parse_module(with_plain_ends(text))
    if isinstance(module, SyntaxError) or not module.body:
        return FileStyle()
    classes = [node for node in module.body if isinstance(node, ast.ClassDef) and any(map(_is_test, node.body))]
    bases = [ast.unparse(base) for node in classes for base in node.bases if ast.unparse(base).endswith("TestCase")]
    function_count = sum(_is_test(node) for node in module.body)
    method_count = sum(_is_test(item) for node in classes for item in node.body)
    kind = FileForm.FUNCTIONS if function_count >= method_count else FileForm.UNITTEST if bases else FileForm.CLASSES
    longest = max((len(line.rstrip()) for line in with_plain_ends(text).split("\n")), default=0)
    # A base class of the project may require set-up that these tests do not have.
    plain_bases = [base for base in bases if base in ("TestCase", "unittest.TestCase")]
    return FileStyle(
        kind=kind,
        unit=indentation_unit(text),
        quote=_quote(text),
        width=WIDTH if longest <= WIDTH else min(longest, WIDEST),
        base=plain_bases[0] if plain_bases else "unittest.TestCase",
    )


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, FUNCTIONS) and node.name.startswith("test")


def _quote(text: str) -> str:
    counts: Counter[str] = Counter()
    for token in _tokens(with_plain_ends(text)):
        if token.type == tokenize.STRING and (match := re.match(r"[a-zA-Z]*(['\"])(?!\1\1)", token.string)):
            counts[match[1]] += 1
    return "'" if counts["'"] > counts['"'] else '"'


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    tokens = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            tokens.append(token)  # noqa: PERF402 - tokens before an error count
    except (tokenize.TokenError, SyntaxError):
        pass
    return tokens


# -- new tests ----------------------------------------------------------------------------------------------------


def append_tests(
    text: str, style: FileStyle, spellings: TargetImports, tests: Sequence[RenderedTest], title: str
) -> str:
    """The file with these tests at its end; `title` names the class where tests are methods.

    An `if __name__ == "__main__"` block stays last.
    """
    if not tests:
        return text
    blocks = [_render_test(test, style, spellings) for test in tests]
    if style.kind is FileForm.FUNCTIONS:
        rows = [row for block in blocks for row in ["", "", *block]][2:]
    else:
        header = f"class {title}({style.base}):" if style.kind is FileForm.UNITTEST else f"class {title}:"
        class_rows = [row for block in blocks for row in ["", *(style.unit + row if row else "" for row in block)]]
        rows = [header, *class_rows[1:]]
    required_imports = dict.fromkeys([*(line for test in tests for line in test.imports), *spellings.imports])
    if style.kind is FileForm.UNITTEST:
        required_imports |= dict.fromkeys(
            ["from unittest import TestCase" if style.base == "TestCase" else "import unittest"]
        )
        required_imports.pop("import pytest", None)
    return _insert_rows(text, rows, [line for line in required_imports if not _is_imported(text, line)])


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


def _is_imported(text: str, line: str) -> bool:
    """Does the file already import all of this at its top level?"""
    wanted_module, parsed = parse_module(line), parse_module(with_plain_ends(text))
    if isinstance(parsed, SyntaxError) or isinstance(wanted_module, SyntaxError):
        return False
    present = {
        ast.unparse(ast.Import([alias])) for node in parsed.body if isinstance(node, ast.Import) for alias in node.names
    }
    present |= {
        _import_text(node, alias) for node in parsed.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    needed = {
        ast.unparse(ast.Import([alias]))
        for node in wanted_module.body
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    needed |= {
        _import_text(node, alias)
        for node in wanted_module.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return needed <= present


def _import_text(node: ast.ImportFrom, alias: ast.alias) -> str:
    return f"from {'.' * node.level}{node.module or ''} import {alias.name} as {alias.asname}"


def new_tests(
    text: str, style: FileStyle, spellings: TargetImports, tests: Sequence[RenderedTest]
) -> list[RenderedTest]:
    """The tests whose body no function of the file already has."""
    parsed = parse_module(with_plain_ends(text))
    nodes = [] if isinstance(parsed, SyntaxError) else [*ast.walk(parsed)]
    existing = {_body_key(node.body) for node in nodes if isinstance(node, FUNCTIONS)}
    return [test for test in tests if _body_key(_body(test, style, spellings)) not in existing]


def _body_key(body: Sequence[ast.stmt]) -> str:
    return "\n".join(ast.unparse(ast.fix_missing_locations(node)) for node in body)


def _body(test: RenderedTest, style: FileStyle, spellings: TargetImports) -> list[ast.stmt]:
    module = ast.parse(test.body)
    _SpellingTransformer(spellings.spellings).visit(module)
    return [_to_unittest_assertion(node) for node in module.body] if style.kind is FileForm.UNITTEST else module.body


def _render_test(test: RenderedTest, style: FileStyle, spellings: TargetImports) -> list[str]:
    body_rows = _body_key(_body(test, style, spellings)).split("\n")
    self_parameter = [] if style.kind is FileForm.FUNCTIONS else ["self"]
    rows = [f"# {test.remark}"] if test.remark else []
    rows += [f"@{each}" for each in test.decorators]
    rows += [f"def {test.name}({', '.join([*self_parameter, *test.parameters])}):"]
    rows += [_with_unit(row, style.unit) for row in body_rows]
    class_indent = 0 if style.kind is FileForm.FUNCTIONS else len(style.unit.expandtabs(4))
    return [
        each
        for row in rows
        for each in (
            [row]
            if row.lstrip().startswith("#")
            else wrap_line(_with_quotes(row, style.quote), style.width - class_indent, style.unit)
        )
    ]


def _with_unit(row: str, unit: str) -> str:
    depth = (len(row) - len(row.lstrip(" "))) // 4
    return unit * (depth + 1) + row.lstrip(" ")


def _with_quotes(row: str, quote: str) -> str:
    """The row with simple strings in these quotes, where that needs no escaping."""
    margin = row[: len(row) - len(row.lstrip())]
    text, shift = row[len(margin) :], 0
    for token in _tokens(text + "\n"):
        match = (
            re.fullmatch(r"([rRbBuU]*)(['\"])([^'\"\\]*)\2", token.string) if token.type == tokenize.STRING else None
        )
        if match and match[2] != quote:
            start, end = token.start[1] + shift, token.end[1] + shift
            text = text[:start] + match[1] + quote + match[3] + quote + text[end:]
    return margin + text


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
