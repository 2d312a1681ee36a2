"""Honest answers to MBPP, for `proofs.py`: tests as doctests, loops, and assertions in helpers and base classes."""

from __future__ import annotations

import ast
import random
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proof_acceptance import Shared, accepted, encoded, opened, row_of
from proof_projects import ONE_TOKEN, is_one_token

from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.verification_inputs import ACCEPTING
from greenloop.specs import doctest as doctests
from greenloop_lab.bench import mbpp
from greenloop_lab.bench.mutation import mutants
from greenloop_lab.bench.mutation.ast_edits import Source, apply_edits
from greenloop_lab.bench.mutation.operators import all_edits
from greenloop_sandbox import TestRun, case_results

DOCTESTS, LOOP, HELPER = "doctests", "loop", "helper"


@dataclass(frozen=True, kw_only=True)
class Shapes:
    """A row's tests in three shapes: the examples of the docstring, and files."""

    examples: str
    files: Mapping[str, str]


async def mbpp_answers(path: Path, count: int, done: set[str]) -> AsyncIterator[Any]:
    """Six answers of each row: a stub and a mutant, each under three shapes of tests."""
    rows = random.Random(7).sample(mbpp.load(path), 974)
    with tempfile.TemporaryDirectory(prefix="greenloop-proofs-") as folder:
        root = empty_project(Path(folder))
        async with opened(root) as session:
            for row in rows[:count]:
                if f"mbpp-{row.number}" in done:
                    continue
                async for answer in row_answers(row, root, session):
                    yield answer
                yield {"id": f"mbpp-{row.number}", "kind": "end"}


def empty_project(folder: Path) -> Path:
    folder.chmod(0o755)
    root = folder / "project"
    root.mkdir()
    (root / "pytest.ini").write_text(mbpp.INI["pytest.ini"])
    return root


async def row_answers(row: mbpp.Row, root: Path, session: Shared) -> AsyncIterator[Any]:
    shapes = shapes_of(row)
    if shapes is None:
        return
    right = with_examples(mutants.reference_module(row), row, shapes.examples)
    for seed in (0, ACCEPTING):  # references that are wrong, or print sets
        outcomes = await outcomes_of(session, right, row, shapes, seed)
        if outcomes is None or set(outcomes.values()) != {"passed"}:
            return
    stub = ast.unparse(ast.parse(mbpp.stub_module(row)))
    owns = [("stub", with_examples(stub + "\n", row, shapes.examples))]
    source = Source(right)
    function = next(n for n in source.tree.body if isinstance(n, ast.FunctionDef) and n.name == row.function.name)
    edits = [edit for edit in all_edits(source, function) if edit.operator in ONE_TOKEN and is_one_token(source, edit)]
    random.Random(row.number).shuffle(edits)
    for edit in edits[:6]:
        own = apply_edits(right, edit)
        outcomes = await outcomes_of(session, own, row, shapes, 0)
        if outcomes is not None and "failed" in outcomes.values():
            owns.append((f"{source.text[edit.start : edit.end]!r} -> {edit.text!r}", own))
            break
    for change, own in owns:
        outcomes = await outcomes_of(session, own, row, shapes, 0)
        if outcomes is None:
            continue
        node = next(n for n in ast.parse(own).body if isinstance(n, ast.FunctionDef) and n.name == row.function.name)
        region = Region(path=mbpp.MODULE, qualname=node.name, start=node.lineno, end=node.end_lineno or node.lineno)
        for shape, spec in specs_of(own, region, shapes).items():
            if not any(outcomes.get(case.id) == "failed" for case in spec.cases):
                continue
            texts = {mbpp.MODULE: own, **shapes.files}
            found = await accepted(session, root, texts, right, spec, region)
            kind = "stub" if change == "stub" else "mutant"
            name = f"mbpp-{row.number}/{shape}/{kind}"
            yield row_of(name, f"MBPP, {shape}", found, spec, change)


async def outcomes_of(session: Shared, text: str, row: mbpp.Row, shapes: Shapes, seed: int) -> dict[str, str] | None:
    files = encoded({mbpp.MODULE: text, **shapes.files})
    selectors = (*shapes.files, f"doctest:{mbpp.MODULE}::{row.function.name}")
    execution = await session.run(TestRun(selectors=selectors, files=files, seconds=6.0, hash_seed=seed))
    if execution.killed or execution.broken:
        return None
    return {result.id: result.outcome for result in case_results(execution)}


def specs_of(own: str, region: Region, shapes: Shapes) -> dict[str, Spec]:
    specs = {DOCTESTS: doctests.examples(region, own)}
    for path, text in shapes.files.items():
        tree = ast.parse(text)
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]
        names += [
            f"{node.name}::{each.name}"
            for node in tree.body
            if isinstance(node, ast.ClassDef)
            for each in node.body
            if isinstance(each, ast.FunctionDef) and each.name.startswith("test")
        ]
        cases = tuple(Case(id=f"{path}::{name}", path=path, line=1, provenance=Provenance.USER) for name in names)
        specs[path.removeprefix("test_").removesuffix(".py")] = Spec(cases=cases, selectors=(path,))
    return specs


def shapes_of(row: mbpp.Row) -> Shapes | None:
    """None for a row whose tests are not all `assert function(plain arguments) == literal`."""
    pairs = []
    for text in row.tests:
        statement = ast.parse(text).body[0]
        if not (isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare)):
            return None
        call, operators, values = statement.test.left, statement.test.ops, statement.test.comparators
        if not (isinstance(call, ast.Call) and ast.unparse(call.func) == row.function.name and not call.keywords):
            return None
        if not isinstance(operators[0], ast.Eq) or len(values) > 1:
            return None
        try:
            expected = ast.literal_eval(values[0])
        except ValueError:
            return None
        pairs.append(([ast.unparse(argument) for argument in call.args], ast.unparse(call), expected))
    examples = "".join(
        f">>> {call}\n{expected!r}\n" if expected is not None else f">>> {call} is None\nTrue\n"
        for _arguments, call, expected in pairs
    )
    head = f"from solution import *\n{row.setup}\n\n"
    table = "".join(
        f"    (({''.join(f'{each}, ' for each in arguments)}), {expected!r}),\n" for arguments, _, expected in pairs
    )
    loop = (
        f"CASES = [\n{table}]\n\n\ndef test_all():\n    for arguments, expected in CASES:\n"
        f"        assert {row.function.name}(*arguments) == expected\n"
    )
    if row.number % 2:
        helper = "def check(actual, expected):\n    assert actual == expected\n\n\n" + "\n\n".join(
            f"def test_{number}():\n    check({call}, {expected!r})\n"
            for number, (_arguments, call, expected) in enumerate(pairs, 1)
        )
    else:
        helper = (
            "import unittest\n\n\nclass Base(unittest.TestCase):\n    def check(self, actual, expected):\n"
            "        self.assertEqual(actual, expected)\n\n\nclass Test(Base):\n"
            + "\n".join(
                f"    def test_{number}(self):\n        self.check({call}, {expected!r})\n"
                for number, (_arguments, call, expected) in enumerate(pairs, 1)
            )
        )
    return Shapes(examples=examples, files={f"test_{LOOP}.py": head + loop, f"test_{HELPER}.py": head + helper})


def with_examples(module: str, row: mbpp.Row, examples: str) -> str:
    """The module with these examples in the function's docstring."""
    tree = ast.parse(module)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == row.function.name:
            node.body[0] = ast.Expr(ast.Constant(f"{row.text}\n\n{examples}"))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
