"""Writes generated tests as plain pytest functions at the end of a test file.

Pure text work. Nothing in the file is changed: imports are added, tests are appended. Layout is left to the project's
own formatter, which this module does not know.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from greenloop.core.compose import with_imports
from greenloop.core.generated_tests import parse_equation
from greenloop.core.python.ast_source import FUNCTIONS, Function, statements_of, walk_code
from greenloop.core.python.names import bound_names
from greenloop.core.records.spec import Case, Provenance
from greenloop.core.text.diff import main_line_end, with_plain_ends

REMARKS = {
    Provenance.EXAMPLE: "An example of the docstring.",
    Provenance.TRACE: "Recorded behaviour.",
    Provenance.CONFIRMED: "Confirmed by you.",
    Provenance.HUMAN: "Stated by you when reviewing a candidate.",
    Provenance.DESIGNED: "Generated from the docstring by greenloop, supported by votes.",
}
LONGEST = 40  # characters of a name after the function's


@dataclass(frozen=True, kw_only=True)
class WrittenTest:
    """A test to append: its case, its name, its code, and the imports that it needs at the top of the file."""

    case: str
    name: str
    code: str
    imports: tuple[str, ...]


def render_tests(
    cases: Sequence[Case],
    files: Mapping[str, str],
    text: str,
    *,
    module: str,
    function: str,
    is_target: Callable[[str], bool],
) -> Iterator[tuple[Case, WrittenTest | None]]:
    """Yields a test for each case, from its generated file among `files`; None where it cannot be parsed.

    `text` is that of the test file, whose tests are not repeated; `is_target` recognises how it may name the `module`
    under test (`.m`, `pkg.m`). A remark says of the first of several tests where they come from.
    """
    taken = set(re.findall(r"\b\w+\b", text))
    existing = {_body_of(node) for node in walk_code(text) if isinstance(node, FUNCTIONS)}
    remark = ""
    for case in cases:
        sheet, _colons, name = case.id.partition("::")
        statements = statements_of(files.get(sheet, ""))
        node = next((each for each in statements if isinstance(each, FUNCTIONS) and each.name == name), None)
        if node is None:
            yield case, None
            continue
        node = copy.deepcopy(node)  # parsed modules are shared
        imports = _import_target(node, text, module, is_target)
        if _body_of(node) in existing:
            continue
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        imports += [ast.unparse(each) for each in statements if _is_needed(each, used)]
        node.name, node.decorator_list = _test_name(case, function, taken), []
        rows = [] if REMARKS[case.provenance] == remark else [f"# {REMARKS[case.provenance]}"]
        rows.append(ast.unparse(node))
        remark = REMARKS[case.provenance]
        taken.add(node.name)
        yield case, WrittenTest(case=case.id, name=node.name, code="\n".join(rows), imports=tuple(imports))


def append_tests(text: str, code: str, imports: Sequence[str]) -> str:
    """The file with `code` at its end and the imports that it lacks."""
    newline = main_line_end(text)
    if text.strip():
        text = with_imports(text, imports)
        text += newline if not text.endswith(("\n", "\r")) else ""
        blank = re.search(r"\n(\s*)\Z", with_plain_ends(text))
        text += newline * max(2 - (blank[1].count("\n") if blank else 0), 0)
    elif imports:
        plain_first = sorted(imports, key=lambda each: (each.startswith("from"), each))
        text = "\n".join([*plain_first, "", "", ""])
    return text + "".join(f"{row.rstrip()}{newline}" for row in with_plain_ends(code).rstrip("\n").split("\n"))


def _import_target(node: Function, text: str, module: str, is_target: Callable[[str], bool]) -> list[str]:
    """The imports of the module under test for the top of the file; a test keeps those of names that the file uses."""
    statements = statements_of(text)
    origins = {
        f"{'.' * each.level}{each.module or ''}": each.names for each in statements if isinstance(each, ast.ImportFrom)
    }
    source = next((each for each in origins if is_target(each)), module)
    known = {alias.name for each, names in origins.items() if is_target(each) for alias in names if not alias.asname}
    bound = set[str]().union(*(bound_names(each) for each in statements))
    used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    imports = []
    for each in [each for each in node.body if isinstance(each, ast.ImportFrom) and each.module == module]:
        names = [alias.name for alias in each.names if alias.name in used]
        each.names = [ast.alias(name) for name in names if name in bound - known]
        imports += [f"from {source} import {name}" for name in names if name not in bound]
        if not each.names:
            node.body.remove(each)
    return imports


def _body_of(node: Function) -> str:
    return "\n".join(map(ast.unparse, node.body))


def _is_needed(node: ast.stmt, words: Collection[str]) -> bool:
    """Is it an import that these words use?"""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return False
    return any((each.asname or each.name.partition(".")[0]) in words for each in node.names)


def _test_name(case: Case, function: str, taken: Collection[str]) -> str:
    """`test_rle_aab`, `test_rle_5_raises_typeerror`; with a number where the call says nothing, or it is taken."""
    equation = parse_equation(case.source)
    said = case.source.partition(":")[0]
    if equation:
        said = f"{equation.call.partition('(')[2]} {f'raises {equation.raises}' if equation.raises else ''}"
    words = "" if said.startswith(("assert", "with")) else _slug(said)
    is_telling = 0 < len(words) <= LONGEST
    stem = f"test_{_slug(function)}_{words}" if is_telling else f"test_{_slug(function)}"
    names = [stem] if is_telling else []
    names += (f"{stem}_{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def _slug(text: str) -> str:
    return re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_")


def is_unittest(text: str) -> bool:
    """Are the tests of this file methods of `unittest.TestCase`s, among which a plain function would be odd?"""
    body = statements_of(text)
    bases = [ast.unparse(base) for node in body if isinstance(node, ast.ClassDef) for base in node.bases]
    has_functions = any(isinstance(node, FUNCTIONS) and node.name.startswith("test") for node in body)
    return not has_functions and any(base.endswith("TestCase") for base in bases)
