"""Tasks of a JSON Lines file in the form of HumanEval: the beginning of a function, and the code that checks it.

The engine is shown the first checks, all of them judge.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.core.errors import SettingsError, UsageError
from greenloop_lab.bench.mbpp import INI, JUDGE, MODULE, TESTS, Row, judging_case_ids, tests_file, visible_tests_file
from greenloop_lab.bench.tasks import Task, read_rows

KIND = "function"
NEEDED = ("prompt", "test", "entry_point")
REMEDY = (
    "Each line needs prompt, test and entry_point, and may have task_id and canonical_solution; see lab/docs/bench.md."
)
INDENTATION = " " * 4


def load(path: Path, *, shown: int = 1) -> list[Task]:
    """The tasks of a file. Raises `UsageError` naming the first line that is not one."""
    return [parse_row(row, path, number, shown=shown) for number, row in read_rows(path)]


def parse_row(row: Mapping[str, Any], path: Path, number: int, *, shown: int, **more: Any) -> Task:
    """The task of a row; `more` are fields of the task that replace the usual ones. Raises `UsageError`."""
    try:
        return make_task(row, f"{path.stem}-{number}", shown=shown, **more)
    except (TypeError, ValueError, SyntaxError, SettingsError) as error:
        raise UsageError(f"Line {number} of {path} is not a task: {str(error).rstrip('.')}.", remedy=REMEDY) from error


def make_task(row: Mapping[str, Any], name: str, *, shown: int, **more: Any) -> Task:
    """Raises `ValueError`, `TypeError` or `SyntaxError` for what is not a task."""
    if lacking := next((key for key in NEEDED if key not in row), None):
        raise ValueError(f"it lacks the key {lacking!r}")
    for key in (*NEEDED, "canonical_solution", "task_id"):
        if not isinstance(row.get(key, ""), str) or (key in NEEDED and not row[key].strip()):
            raise TypeError(f"{key!r} must be a text")
    name, entry_point = row.get("task_id") or name, row["entry_point"]
    module = complete_module(row["prompt"], entry_point)
    checks = read_checks(row["test"], entry_point)
    visible, target, cases = visible_tests_file(checks.row(checks.head, checks.single), checks.single[:shown])
    judging = checks.row(checks.judging_head, checks.judging)
    solution = row.get("canonical_solution", "")
    fields: dict[str, Any] = {
        "id": re.sub(r"[^\w.-]+", "-", name),
        "kind": KIND,
        "target": target,
        "shown": cases,
        "files": {**INI, MODULE: module, TESTS: visible},
        "judge": {JUDGE: tests_file(judging, judging.tests)},
        "cases": judging_case_ids(judging),
        "solution": {MODULE: solve(row["prompt"], solution, entry_point)} if solution.strip() else {},
        "origin": name,
    }
    return Task(**{**fields, **more})


def complete_module(prompt: str, entry_point: str) -> str:
    """The module that the engine gets: a function without a body raises `NotImplementedError`, others stay."""
    try:
        ast.parse(prompt)
    except SyntaxError:  # a header alone
        prompt = f"{prompt.rstrip()}\n{INDENTATION}raise NotImplementedError\n"
    function = find_function(prompt, entry_point)
    lines = prompt.rstrip("\n").split("\n")
    if len(function.body) == 1 and ast.get_docstring(function) is not None:
        indentation = " " * function.body[0].col_offset
        lines.insert(function.end_lineno or len(lines), f"{indentation}raise NotImplementedError")
    return "\n".join(lines) + "\n"


def solve(prompt: str, solution: str, entry_point: str) -> str:
    """The module with the solution, which goes on where the prompt ends, or is the whole function."""
    solution = solution.strip("\n") + "\n"
    for text in (_with_imports(prompt, entry_point, solution), f"{prompt.rstrip()}\n{solution}"):
        try:
            function = find_function(text, entry_point)
        except (SyntaxError, ValueError):
            continue
        if len(function.body) > (ast.get_docstring(function) is not None):
            return text
    raise ValueError(f"'canonical_solution' neither continues the prompt nor defines {entry_point}")


def _with_imports(prompt: str, entry_point: str, solution: str) -> str:
    """A whole function after what else the prompt has."""
    try:
        others = [node for node in ast.parse(prompt).body if getattr(node, "name", "") != entry_point]
    except SyntaxError:
        return solution
    return _unparse(others) + "\n\n\n" * bool(others) + solution


def find_function(text: str, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The last function of that name at the top of a module. Raises `ValueError`, `SyntaxError`."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    defined = [node for node in ast.parse(text).body if isinstance(node, kinds) and node.name == name]
    if not defined:
        raise ValueError(f"'prompt' does not define {name} at its top")
    return defined[-1]


@dataclass(frozen=True, kw_only=True)
class Checks:
    """Checks of a function: `single` are bodies of tests of one assertion each, `judging` those of all tests."""

    head: str
    single: Sequence[str]
    judging_head: str
    judging: Sequence[str]
    function: ast.FunctionDef

    def row(self, head: str, tests: Sequence[str]) -> Row:
        return Row(number=0, text="", function=self.function, support=(), reference="", setup=head, tests=tuple(tests))


def read_checks(test: str, entry_point: str) -> Checks:
    """Reads `def check(candidate)`, functions `test_…`, or bare assertions. Raises `ValueError`, `SyntaxError`."""
    tree = ast.parse(test)
    imported = f"from {MODULE.removesuffix('.py')} import {entry_point}"
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    tests = [node for name, node in functions.items() if name.startswith("test")]
    check = functions.get("check")
    if check is not None and len(check.args.args) == 1:
        head = _unparse([node for node in tree.body if node is not check and node not in tests], imported)
        single = _single(check.body, f"{check.args.args[0].arg} = {entry_point}")
        judging_head, judging = f"{head}\n{ast.unparse(check)}", [f"check({entry_point})"]
        single = single or judging
        head = head if single is not judging else judging_head
    elif tests:
        if any(node.decorator_list or node.args.args for node in tests):
            raise ValueError("its test functions must have neither parameters nor decorators")
        head = judging_head = _unparse([node for node in tree.body if node not in tests], imported)
        single = judging = [_unparse(node.body) for node in tests]
    else:
        head = judging_head = imported
        single, judging = _single(tree.body, ""), [ast.unparse(tree)]
    if not single:
        raise ValueError("'test' has neither `def check(candidate)`, nor a function `test_…`, nor an assertion")
    return Checks(head=head, single=single, judging_head=judging_head, judging=judging, function=_stub(entry_point))


def _single(body: Sequence[ast.stmt], first: str) -> list[str]:
    """A body for each assertion, with the other statements before it."""
    return [
        _unparse([*(other for other in body[:at] if not isinstance(other, ast.Assert)), node], first)
        for at, node in enumerate(body)
        if isinstance(node, ast.Assert)
    ]


def _unparse(body: Sequence[ast.stmt], first: str = "") -> str:
    return "\n".join(filter(None, [first, *map(ast.unparse, body)]))


def _stub(name: str) -> ast.FunctionDef:
    function = ast.parse(f"def {name}(): ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    return function
