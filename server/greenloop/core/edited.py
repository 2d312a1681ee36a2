"""Written tests as one file that a person edits: strikes out, corrects, adds to. Pure text work; nothing runs.

A test's form is its code without its name and its import of the target: equal forms, the same test.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from greenloop.core.diff import flat
from greenloop.core.nouns import Case, Provenance, Region, Spec
from greenloop.core.sheet import Check
from greenloop.core.told import one

# What may be edited; tests, doctests and recordings are the user's where they stand.
EDITABLE = (Provenance.EXAMPLE, Provenance.CONFIRMED, Provenance.DESIGNED, Provenance.PROPERTY, Provenance.HINT)
MOST = 300  # tests in one file
LONGEST = 256_000  # characters of such a file
_YOURS = re.compile(r"#\s*yours\b", re.IGNORECASE)
Head = ast.Import | ast.ImportFrom | ast.Try
_HEADS = (ast.Import, ast.ImportFrom, ast.Try)


@dataclass(frozen=True, kw_only=True)
class Written:
    """One test as it stands in a file. `kind` is its sheet's; `believed`: the votes did not go against it.

    `yours`: somebody marked it as his own.
    """

    check: Check
    form: str
    kind: str = ""
    believed: bool = True
    yours: bool = False


class Unreadable(ValueError):
    """The text is no file of tests; `str` is one sentence with the line."""


def written(spec: Spec, region: Region) -> list[Written]:
    """The editable tests of a spec, those that the votes went against included."""
    outvoted = {case.id for case in spec.outvoted}
    cases = {case.id: case for case in (*spec.cases, *spec.outvoted) if case.provenance in EDITABLE}
    found = []
    for path, text in spec.files.items():
        mine = {each.partition("::")[2]: case for each, case in cases.items() if each.startswith(f"{path}::")}
        if not mine:
            continue
        for name, test in _ours(text, region).items():
            case = mine.get(name)
            if case is not None:
                kind = name.removeprefix("test_").rpartition("_")[0]
                found.append(_of_case(test, case, kind, believed=case.id not in outvoted))
    return found[:MOST]


def _of_case(test: Written, case: Case, kind: str, *, believed: bool) -> Written:
    check = Check(
        **{
            **vars(test.check),
            "line": case.line,
            "provenance": case.provenance,
            "shown": case.source,
            "batch": case.batch,
        }
    )
    return Written(check=check, form=test.form, kind=kind, believed=believed)


def render(tests: Sequence[Written], region: Region, module: str, others: Sequence[str] = ()) -> str:
    """The file. `others` are tests that stand elsewhere, one line each."""
    name = region.qualname.partition(".")[0]
    head = [
        f"# The tests of {region.qualname} in {region.path}. They stand here and nowhere in your project.",
        "# Delete a test to strike it out. Correct one, or add one, and it counts as yours.",
        "# Write `# yours` behind its `def` line to confirm one as it is. Then refine again.",
        "# Delete this file to have tests designed anew.",
        *([f"# Must hold as well: {', '.join(others)}"] if others else []),
    ]
    imports = dict.fromkeys(line for test in tests for line in test.check.imports)
    parts = ["\n".join(head), "\n".join([*imports, f"from {module} import {name}"])]
    counts: dict[str, int] = {}
    for test in tests:
        kind = test.kind or "yours"
        counts[kind] = counts.get(kind, 0) + 1
        parts.append(_function(test, f"test_{kind}_{counts[kind]}"))
    return "\n\n\n".join([f"{parts[0]}\n\n{parts[1]}", *parts[2:]]) + "\n"


def _function(test: Written, name: str) -> str:
    check = test.check
    said = one(check.provenance) + ("" if test.believed else "; the candidates' votes went against it")
    if check.provenance is Provenance.PROPERTY and check.shown:
        said += f": {check.shown}".replace("\n", " ")
    rows = [f"# {said}", *(f"@{each}" for each in check.decorators), f"def {name}({check.parameters}):"]
    return "\n".join([*rows, *(f"    {row}" if row.strip() else "" for row in check.body.strip("\n").split("\n"))])


def read(text: str, region: Region) -> list[Written]:
    """The tests of an edited file, all of them as the user's. Raises `Unreadable`."""
    if len(text) > LONGEST:
        raise Unreadable(f"it is longer than {LONGEST} characters")
    found = list(_tests(text, region).values())
    if len(found) > MOST:
        raise Unreadable(f"it holds more than {MOST} tests")
    return found


def _tests(text: str, region: Region) -> dict[str, Written]:
    """By name. Raises `Unreadable`."""
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        raise Unreadable(f"line {error.lineno or 1}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"line 1: {error}") from None
    for node in body:
        named = isinstance(node, ast.FunctionDef) and node.name.startswith("test")
        said = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (named or said or isinstance(node, _HEADS)):
            raise Unreadable(f"line {node.lineno}: only imports and functions named test_… can stand here")
    heads = [node for node in body if isinstance(node, _HEADS)]
    rows = flat(text).split("\n")
    tests = [node for node in body if isinstance(node, ast.FunctionDef)]
    if double := next((node for node in tests if sum(node.name == other.name for other in tests) > 1), None):
        raise Unreadable(f"line {double.lineno}: there is more than one {double.name}")
    return {node.name: _test(node, heads, rows, region) for node in tests}


def _ours(text: str, region: Region) -> dict[str, Written]:
    """The tests of a sheet, whatever else stands in it."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    heads = [node for node in body if isinstance(node, _HEADS)]
    rows = flat(text).split("\n")
    return {node.name: _test(node, heads, rows, region) for node in body if isinstance(node, ast.FunctionDef)}


def _test(node: ast.FunctionDef, heads: Sequence[Head], rows: Sequence[str], region: Region) -> Written:
    own = region.qualname.partition(".")[0]
    statements = [each for each in node.body if not _plain_import(each, own)] or [ast.Pass()]
    top = min((each.lineno for each in node.decorator_list), default=node.lineno)
    used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    imports: list[str] = []
    inside: list[str] = []
    for head in heads:
        source = ast.unparse(head)
        if isinstance(head, ast.Try):
            imports += [source] if node.decorator_list else []
        elif not _plain_import(head, own) and used & {
            (item.asname or item.name).partition(".")[0] for item in head.names
        }:
            # What the target's module holds must not be imported when the tests are collected.
            beside = isinstance(head, ast.ImportFrom) and any(
                _same(head, each) for each in heads if _plain_import(each, own)
            )
            (inside if beside else imports).append(source)
    check = Check(
        body="\n".join([*inside, _body(statements, node, rows)]),
        line=region.start,
        provenance=Provenance.CONFIRMED,
        shown=_shown(statements),
        imports=tuple(imports),
        decorators=tuple(ast.unparse(each) for each in node.decorator_list),
        parameters=ast.unparse(node.args),
    )
    form = "\n".join([*check.decorators, check.parameters, *inside, *map(ast.unparse, statements)])
    yours = any(_YOURS.search(row) for row in rows[top - 1 : node.body[0].lineno])
    return Written(check=check, form=form, yours=yours)


def _plain_import(node: ast.stmt, name: str) -> bool:
    """Does it bring in the target, and nothing else?"""
    if not isinstance(node, ast.ImportFrom) or len(node.names) != 1:
        return False
    return node.names[0].name == name and node.names[0].asname is None


def _same(one: ast.ImportFrom, other: ast.stmt) -> bool:
    return isinstance(other, ast.ImportFrom) and (one.module, one.level) == (other.module, other.level)


def _body(statements: Sequence[ast.stmt], node: ast.FunctionDef, rows: Sequence[str]) -> str:
    """The statements as they were written; as `ast` writes them where a text of several lines would be moved."""
    first = statements[0]
    several = any(
        isinstance(each, ast.Constant | ast.JoinedStr) and (each.end_lineno or 0) > each.lineno
        for each in ast.walk(node)
    )
    beside = not hasattr(first, "lineno") or first.lineno == node.lineno or _shared(statements)
    if several or beside:
        return "\n".join(map(ast.unparse, statements))
    margin = " " * first.col_offset
    return "\n".join(row.removeprefix(margin) for row in rows[first.lineno - 1 : node.end_lineno]).rstrip()


def _shared(statements: Sequence[ast.stmt]) -> bool:
    """Do two of them stand in one line?"""
    return len({each.lineno for each in statements}) < len(statements)


def _shown(statements: Sequence[ast.stmt]) -> str:
    """The line that says what is tested."""
    telling = [each for each in statements if not isinstance(each, ast.Import | ast.ImportFrom)]
    return ast.unparse((telling or statements)[-1]).split("\n")[0]


def sift(spec: Spec, region: Region, struck: Iterable[str]) -> Spec:
    """The spec without the tests of these forms, but for those that the user confirmed.

    Their files stay; nothing asks for those tests.
    """
    gone = set(struck)
    if not gone:
        return spec
    ids: set[str] = set()
    for path, text in spec.files.items():
        ids |= {f"{path}::{name}" for name, test in _ours(text, region).items() if test.form in gone}
    ids -= {case.id for case in spec.cases if case.provenance is Provenance.CONFIRMED}
    return Spec(
        cases=tuple(case for case in spec.cases if case.id not in ids),
        selectors=tuple(each for each in spec.selectors if each not in ids),
        files=spec.files,
        outvoted=tuple(case for case in spec.outvoted if case.id not in ids),
        doubts=spec.doubts,
    )
