"""Tasks of MBPP (Austin et al. 2021): text, reference and three tests per row.

A drafting task is a module with the reference's signature, the task's text as docstring and no body; some of the tests
are shown, all of them judge.
"""

from __future__ import annotations

import ast
import random
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.core.errors import UsageError
from greenloop.core.python.ast_source import parse_module_strictly
from greenloop_lab.bench.tasks import Task, read_rows

MODULE, TESTS, JUDGE = "solution.py", "test_solution.py", "test_judge.py"
# pytest plugins of the harness's environment are not part of the tasks, and slow to import.
INI = {"pytest.ini": "[pytest]\naddopts = --disable-plugin-autoload\n"}
SHOWN = "TestShown"
# How fully a task is described, and a function name without meaning.
FULL, HALF, VAGUE, BARE = LEVELS = ("full", "half", "vague", "bare")
NAME = "solve"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row. `support` are the other definitions of the reference that its tests or their set-up code use."""

    number: int
    text: str
    function: ast.FunctionDef
    support: tuple[ast.stmt, ...]
    reference: str
    setup: str
    tests: tuple[str, ...]


def load(path: Path, level: str = FULL) -> list[Row]:
    """Loads the full set (one row per line) or the sanitized one (a JSON list); `level` is one of `LEVELS`.

    Raises `UsageError` naming the first invalid row.
    """
    loaded = []
    for number, row in read_rows(path):
        try:
            loaded.append(parse(vary(row, level)))
        except (KeyError, TypeError, AttributeError, SyntaxError, ValueError) as error:
            reason = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
            raise UsageError(
                f"Line {number} of {path} is not a row of MBPP: {reason}.",
                remedy="Each needs task_id, text, code, test_list and test_setup_code, as in the published mbpp.jsonl.",
            ) from error
    return loaded


def vary(row: Mapping[str, Any], level: str) -> Mapping[str, Any]:
    """The row described less fully: half of its words, a meaningless function name, or neither text nor name."""
    row = {**row, "text": row["prompt"] if "prompt" in row else row["text"]}
    row.setdefault("test_setup_code", "\n".join(row.get("test_imports", ())))
    if level in {HALF, BARE}:
        words = row["text"].split()
        row["text"] = " ".join(words[: (len(words) + 1) // 2]) if level == HALF else "Make the tests pass."
    if level in {VAGUE, BARE}:
        name = re.compile(rf"\b{re.escape(parse(row).function.name)}\b")
        row["code"] = name.sub(NAME, row["code"])
        row["test_list"] = [name.sub(NAME, text) for text in row["test_list"]]
        row["test_setup_code"] = name.sub(NAME, row["test_setup_code"])
    return row


def parse(row: Mapping[str, Any]) -> Row:
    """Parses a row. Raises `ValueError` where the tests call no function of the reference."""
    reference = row["code"].replace("\r\n", "\n")
    tree = parse_module_strictly(reference)
    defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    called = assigned_names(parse_module_strictly("\n".join(row["test_list"]))) & set(defined)
    prepared = assigned_names(parse_module_strictly(row["test_setup_code"])) & set(defined)
    functions = [name for name in defined if name in called and isinstance(defined[name], ast.FunctionDef)]
    if not functions:
        raise ValueError(f"the tests of task {row['task_id']} never call a function of its reference")
    # Where a test uses several, as in `assert check(make(1))`, the task is the one that the text names first.
    text = row["test_list"][0]
    target = min(functions, key=lambda name: text.find(name) if name in text else len(text))
    function = defined[target]
    assert isinstance(function, ast.FunctionDef)
    support = (called | prepared) - {target}
    while further := {n for name in support for n in assigned_names(defined[name]) & set(defined)} - support - {target}:
        support |= further
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)] if support else []
    return Row(
        number=row["task_id"],
        text=row["text"].strip(),
        function=function,
        support=(*imports, *(defined[name] for name in defined if name in support)),
        reference=reference,
        setup=row["test_setup_code"],
        tests=tuple(row["test_list"]),
    )


def draw_sample(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """`count` rows (0: all), drawn as `random.sample` does after `random.seed(seed)`."""
    if not count:
        return list(rows)
    return random.Random(seed).sample(list(rows), min(count, len(rows)))  # noqa: S311


def assigned_names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def make_task(row: Row, *, shown: int = 1, level: str = FULL) -> Task:
    """The drafting task of a row, with the first `shown` of its tests; `level` is the one it was loaded with."""
    visible, target, cases = visible_tests_file(row, row.tests[:shown])
    return Task(
        id=f"mbpp-{row.number}" + (f"-{level}" if level != FULL else ""),
        kind="draft" + (f", {level}" if level != FULL else ""),
        target=target,
        shown=cases,
        files={**INI, MODULE: stub_module(row), TESTS: visible},
        judge={JUDGE: judging_tests_file(row)},
        cases=judging_case_ids(row),
        solution={MODULE: row.reference + "\n"},
        origin=f"mbpp {row.number}",
    )


def stub_module(row: Row) -> str:
    """The module of the task: signature, docstring, `raise NotImplementedError`."""
    body: list[ast.stmt] = [ast.Expr(ast.Constant(row.text)), ast.Raise(exc=ast.Name("NotImplementedError"))]
    function = ast.FunctionDef(name=row.function.name, args=row.function.args, body=body, decorator_list=[])
    tree = ast.Module(body=[*row.support, function], type_ignores=[])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def visible_tests_file(row: Row, tests: Sequence[str]) -> tuple[str, str, tuple[str, ...]]:
    """The file of the shown tests, the target, and its cases: a single test, or several in a class."""
    if len(tests) == 1:
        case = f"{TESTS}::test_1"
        return tests_file(row, tests), case, (case,)
    methods = "".join(
        f"\n    def test_{number}(self):\n{textwrap.indent(text, ' ' * 8)}\n" for number, text in enumerate(tests, 1)
    )
    cases = tuple(f"{TESTS}::{SHOWN}::test_{number}" for number in range(1, len(tests) + 1))
    return f"{_head(row)}\n\nclass {SHOWN}:{methods}", f"{TESTS}::{SHOWN}", cases


def judging_tests_file(row: Row) -> str:
    return tests_file(row, row.tests)


def judging_case_ids(row: Row) -> tuple[str, ...]:
    return tuple(f"{JUDGE}::test_{number}" for number in range(1, len(row.tests) + 1))


def tests_file(row: Row, tests: Sequence[str]) -> str:
    return _head(row) + "".join(
        f"\n\ndef test_{number}():\n{textwrap.indent(text, '    ')}\n" for number, text in enumerate(tests, 1)
    )


def _head(row: Row) -> str:
    """The imports and the set-up code; a star imports no name that begins with `_`."""
    module = Path(MODULE).stem
    names = [node.name for node in (*row.support, row.function) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    private = "".join(f"from {module} import {name}\n" for name in names if name.startswith("_"))
    return f"from {module} import *\n{private}{row.setup}\n"
