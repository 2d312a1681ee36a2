"""Repair tasks: a correct function with one to three broken lines, which some test notices.

The function's text and its tests are shown. All tests judge, and so do, where the tests call the function with
literals, the reference's results for similar calls.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from greenloop.core.python.ast_source import parse_module_strictly
from greenloop.project.settings import Settings
from greenloop_lab.bench import hidden_tests, mbpp
from greenloop_lab.bench.mbpp import INI, JUDGE, MODULE, TESTS, Row
from greenloop_lab.bench.mutation.ast_edits import Source
from greenloop_lab.bench.mutation.mutate_project import MutantRequest, draw_mutants, find_mutant, mutant_task
from greenloop_lab.bench.tasks import Task
from greenloop_sandbox import Execution, SandboxPool, Session, TestRun, case_results

# A mutant that takes longer is discarded: one that never ends would cost every arm its whole time.
MAX_SECONDS = 6.0
OTHER_SEED = 4_242


async def from_rows(rows: Sequence[Row], settings: Settings, request: MutantRequest) -> list[Task]:
    """Mutants, one per row, of rows in a random order; fewer where there are no more.

    Raises `CannotVerifyError` where no sandbox can be used.
    """
    drawn = random.Random(request.seed).sample(list(rows), len(rows))  # noqa: S311
    included = [row for row in drawn if not request.is_excluded(family(row.number))]
    return await draw_mutants(included, lambda row, used: _from_row(row, settings, request, used), request)


def family(number: int) -> str:
    """The prefix of the ids of all mutants of a row."""
    return f"mutant-mbpp-{number}-"


def reference_module(row: Row) -> str:
    """The module of the reference, with the task's text as docstring."""
    tree = parse_module_strictly(row.reference)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == row.function.name:
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            node.body = [ast.Expr(ast.Constant(row.text)), *body]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


@dataclass(kw_only=True)
class _MutantTester:
    """Tries the mutants of one row: an open session, its files, the shown cases and all cases."""

    session: Session
    files: Mapping[str, str]
    shown: Sequence[str]
    cases: Sequence[str] = field(default_factory=tuple)

    async def outcomes(self, text: str, *, hash_seed: int = 0) -> dict[str, str] | None:
        """Outcome by case; None where the run did not complete."""
        files = {path: each.encode() for path, each in {**self.files, MODULE: text}.items()}
        selectors = tuple(path for path in self.files if path.startswith("test_"))
        run = TestRun(selectors=selectors, files=files, seconds=MAX_SECONDS, hash_seed=hash_seed)
        return outcomes_by_case(await self.session.run(run))

    async def fails(self, text: str) -> bool:
        """Does a shown test fail, in a run that completes?"""
        outcomes = await self.outcomes(text)
        return outcomes is not None and any(outcomes.get(case) == "failed" for case in self.shown)


def outcomes_by_case(execution: Execution, *, complete_only: bool = True) -> dict[str, str] | None:
    """Outcome by case. `complete_only`: None for a run that did not complete."""
    if complete_only and (execution.killed or execution.broken):
        return None
    return {result.id: result.outcome for result in case_results(execution)}


async def _from_row(row: Row, settings: Settings, request: MutantRequest, used: Mapping[str, int]) -> Task | None:
    shown_tests = row.tests[: request.shown or max(len(row.tests) - 1, 1)]
    tests, target, cases = mbpp.visible_tests_file(row, shown_tests)
    correct = reference_module(row)
    hidden_files = {JUDGE: mbpp.judging_tests_file(row), **hidden_tests.judging_files(row)}
    pool = SandboxPool()
    with TemporaryDirectory(prefix="greenloop-bench-") as name:
        root = Path(name) / "project"
        root.mkdir()
        (root / "pytest.ini").write_text(INI["pytest.ini"])
        try:
            async with hidden_tests.open_session(root, settings, pool) as session:
                trial = _MutantTester(session=session, files={TESTS: tests, **hidden_files}, shown=cases)
                if not await _set_judging_cases(trial, correct, row):
                    return None
                source = Source(correct)
                function = next(
                    n for n in source.tree.body if isinstance(n, ast.FunctionDef) and n.name == row.function.name
                )
                rng = random.Random(f"{request.seed} {row.number} {request.shape}")  # noqa: S311
                mutant = await find_mutant(
                    source, function, trial.fails, request=request, rng=rng, operator_counts=used
                )
        finally:
            await pool.close()
    if mutant is None:
        return None
    text, chosen = mutant
    return mutant_task(
        family(row.number),
        request,
        text,
        chosen,
        target=target,
        shown=cases,
        files={**INI, MODULE: text, TESTS: tests},
        judge=hidden_files,
        cases=tuple(trial.cases),
        solution={MODULE: correct},
        origin=f"mbpp {row.number}",
        function=f"{MODULE}::{row.function.name}",
    )


async def _set_judging_cases(tester: _MutantTester, correct: str, row: Row) -> bool:
    """Sets the judging cases: all tests, and similar calls with the same result twice. False if the reference fails."""
    first = await tester.outcomes(correct)
    second = await tester.outcomes(correct, hash_seed=OTHER_SEED)
    if first is None or second is None:
        return False
    required = [*tester.shown, *mbpp.judging_case_ids(row)]
    if any(first.get(case) != "passed" or second.get(case) != "passed" for case in required):
        return False
    similar = [
        case for case in first if case.startswith(hidden_tests.TESTS) and first[case] == second.get(case) == "passed"
    ]
    tester.cases = (*mbpp.judging_case_ids(row), *similar)
    return True
