"""How a test file is written, and new tests in the same hand: kind, indentation, quotes, line width, imports.

Pure text work on `ast`. Nothing that stands in the file is changed: imports are added, tests are appended.
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

from greenloop.core.access import Access
from greenloop.core.compose import insert_imports
from greenloop.core.diff import flat, lines, newline_of
from greenloop.core.source import FUNCTIONS, tree, unit_of
from greenloop.core.wrapping import wrapped

WIDTH = 88  # columns, as black has it
WIDEST = 120


class Kind(StrEnum):
    """What the tests of a file are: functions, methods of plain classes, or methods of `unittest.TestCase`s."""

    FUNCTIONS = "functions"
    CLASSES = "classes"
    UNITTEST = "unittest"


@dataclass(frozen=True, kw_only=True)
class Style:
    """A file's hand. `base` is how it writes the class its unittest classes derive from."""

    kind: Kind = Kind.FUNCTIONS
    unit: str = "    "
    quote: str = '"'
    width: int = WIDTH
    base: str = "unittest.TestCase"


@dataclass(frozen=True, kw_only=True)
class Written:
    """A test to write: its name, its statements without imports of the module, and what it needs.

    `uses` are names of the module under test; `imports` whole import statements; `remark` says where it comes from.
    """

    case: str
    name: str
    body: str
    uses: tuple[str, ...]
    imports: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    remark: str = ""


def style(text: str) -> Style:
    """The hand of a file; black's where there is nothing to see."""
    module = tree(flat(text))
    if isinstance(module, SyntaxError) or not module.body:
        return Style()
    classes = [node for node in module.body if isinstance(node, ast.ClassDef) and any(map(_is_test, node.body))]
    bases = [ast.unparse(base) for node in classes for base in node.bases if ast.unparse(base).endswith("TestCase")]
    free = sum(_is_test(node) for node in module.body)
    inside = sum(_is_test(item) for node in classes for item in node.body)
    kind = Kind.FUNCTIONS if free >= inside else Kind.UNITTEST if bases else Kind.CLASSES
    longest = max((len(line.rstrip()) for line in flat(text).split("\n")), default=0)
    # A base of the project's own may need set-up that these tests do not.
    known = [base for base in bases if base in ("TestCase", "unittest.TestCase")]
    return Style(
        kind=kind,
        unit=unit_of(text),
        quote=_quote(text),
        width=WIDTH if longest <= WIDTH else min(longest, WIDEST),
        base=known[0] if known else "unittest.TestCase",
    )


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, FUNCTIONS) and node.name.startswith("test")


def _quote(text: str) -> str:
    counted: Counter[str] = Counter()
    for token in _tokens(flat(text)):
        if token.type == tokenize.STRING and (found := re.match(r"[a-zA-Z]*(['\"])(?!\1\1)", token.string)):
            counted[found[1]] += 1
    return "'" if counted["'"] > counted['"'] else '"'


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            found.append(token)  # noqa: PERF402 - what came before an error counts
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


# -- new tests ----------------------------------------------------------------------------------------------------


def appended(text: str, hand: Style, reached: Access, tests: Sequence[Written], title: str) -> str:
    """The file with these tests at its end; `title` names the class where tests are methods.

    What runs the file as a program stays last.
    """
    if not tests:
        return text
    blocks = [_test(test, hand, reached) for test in tests]
    if hand.kind is Kind.FUNCTIONS:
        rows = [row for block in blocks for row in ["", "", *block]][2:]
    else:
        head = f"class {title}({hand.base}):" if hand.kind is Kind.UNITTEST else f"class {title}:"
        inner = [row for block in blocks for row in ["", *(hand.unit + row if row else "" for row in block)]]
        rows = [head, *inner[1:]]
    needed = dict.fromkeys([*(line for test in tests for line in test.imports), *reached.imports])
    if hand.kind is Kind.UNITTEST:
        needed |= dict.fromkeys(["from unittest import TestCase" if hand.base == "TestCase" else "import unittest"])
        needed.pop("import pytest", None)
    return _put(text, rows, [line for line in needed if not _imported(text, line)])


def _put(text: str, rows: Sequence[str], imports: Sequence[str]) -> str:
    newline = newline_of(text)
    old = lines(text)
    parsed = tree(flat(text))
    assert isinstance(parsed, ast.Module)
    bare = [line.rstrip("\r\n") for line in old]
    at = _end(parsed, bare)
    if at and not old[at - 1].endswith(("\n", "\r")):
        old[at - 1] += newline
    blank = next((number for number in range(at) if bare[at - 1 - number].strip()), at)
    if not parsed.body:
        rows = [*imports, *(["", ""] if imports else []), *rows]
        imports = ()
    fresh = [*[""] * (max(2 - blank, 0) if at else 0), *rows, *(["", ""] if at < len(old) else [])]
    new = [*old[:at], *(row.rstrip() + newline for row in fresh), *old[at:]]
    insert_imports(new, parsed, bare, imports, newline)
    return "".join(new)


def _end(module: ast.Module, bare: Sequence[str]) -> int:
    """0-based line before which tests are appended: the end, or what runs the file as a program."""
    if module.body and isinstance(last := module.body[-1], ast.If) and "__name__" in ast.unparse(last.test):
        at = last.lineno - 1
        while at and bare[at - 1].startswith("#"):
            at -= 1
        return at
    return len(bare)


def _imported(text: str, line: str) -> bool:
    """Does the file import all of this at its top level already?"""
    wanted, parsed = tree(line), tree(flat(text))
    if isinstance(parsed, SyntaxError) or isinstance(wanted, SyntaxError):
        return False
    has = {ast.unparse(ast.Import([a])) for n in parsed.body if isinstance(n, ast.Import) for a in n.names}
    has |= {_one(n, a) for n in parsed.body if isinstance(n, ast.ImportFrom) for a in n.names}
    needs = {ast.unparse(ast.Import([a])) for n in wanted.body if isinstance(n, ast.Import) for a in n.names}
    needs |= {_one(n, a) for n in wanted.body if isinstance(n, ast.ImportFrom) for a in n.names}
    return needs <= has


def _one(node: ast.ImportFrom, alias: ast.alias) -> str:
    return f"from {'.' * node.level}{node.module or ''} import {alias.name} as {alias.asname}"


def fresh(text: str, hand: Style, reached: Access, tests: Sequence[Written]) -> list[Written]:
    """Those of the tests that say what no function of the file says already."""
    parsed = tree(flat(text))
    nodes = [] if isinstance(parsed, SyntaxError) else [*ast.walk(parsed)]
    said = {_meant(node.body) for node in nodes if isinstance(node, FUNCTIONS)}
    return [test for test in tests if _meant(_body(test, hand, reached)) not in said]


def _meant(body: Sequence[ast.stmt]) -> str:
    return "\n".join(ast.unparse(ast.fix_missing_locations(node)) for node in body)


def _body(test: Written, hand: Style, reached: Access) -> list[ast.stmt]:
    module = ast.parse(test.body)
    _Spelled(reached.spelled).visit(module)
    return [_asserting(node) for node in module.body] if hand.kind is Kind.UNITTEST else module.body


def _test(test: Written, hand: Style, reached: Access) -> list[str]:
    inner = _meant(_body(test, hand, reached)).split("\n")
    own = [] if hand.kind is Kind.FUNCTIONS else ["self"]
    rows = [f"# {test.remark}"] if test.remark else []
    rows += [f"@{each}" for each in test.decorators]
    rows += [f"def {test.name}({', '.join([*own, *test.parameters])}):"]
    rows += [_stepped(row, hand.unit) for row in inner]
    deep = 0 if hand.kind is Kind.FUNCTIONS else len(hand.unit.expandtabs(4))
    return [
        each
        for row in rows
        for each in (
            [row] if row.lstrip().startswith("#") else wrapped(_quoted(row, hand.quote), hand.width - deep, hand.unit)
        )
    ]


def _stepped(row: str, unit: str) -> str:
    depth = (len(row) - len(row.lstrip(" "))) // 4
    return unit * (depth + 1) + row.lstrip(" ")


def _quoted(row: str, quote: str) -> str:
    """The row with its plain strings in these quotes, where that needs no escaping."""
    margin = row[: len(row) - len(row.lstrip())]
    text, shift = row[len(margin) :], 0
    for token in _tokens(text + "\n"):
        found = (
            re.fullmatch(r"([rRbBuU]*)(['\"])([^'\"\\]*)\2", token.string) if token.type == tokenize.STRING else None
        )
        if found and found[2] != quote:
            start, end = token.start[1] + shift, token.end[1] + shift
            text = text[:start] + found[1] + quote + found[3] + quote + text[end:]
    return margin + text


class _Spelled(ast.NodeTransformer):
    """Names of the module under test, spelled as the file reaches them."""

    def __init__(self, spelled: Mapping[str, str]) -> None:
        self.spelled = spelled

    def visit_Name(self, node: ast.Name) -> ast.expr:
        new = self.spelled.get(node.id, node.id)
        if not isinstance(node.ctx, ast.Load) or new == node.id:
            return node
        found: ast.expr = ast.parse(new, mode="eval").body
        return found


def _asserting(node: ast.stmt) -> ast.stmt:
    """A plain assertion as unittest writes it."""
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
            return _called(method, [test.left, test.comparators[0]])
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _called("assertFalse", [test.operand, *([node.msg] if node.msg else [])])
    return _called("assertTrue", [test, *([node.msg] if node.msg else [])])


def _attribute(name: str) -> ast.Attribute:
    return ast.Attribute(value=ast.Name(id="self", ctx=ast.Load()), attr=name, ctx=ast.Load())


def _called(method: str, arguments: list[ast.expr]) -> ast.stmt:
    return ast.Expr(value=ast.Call(func=_attribute(method), args=arguments, keywords=[]))
