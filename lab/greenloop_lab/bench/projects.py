"""Repair tasks from any project with tests: mutates functions that passing tests reach.

The project's folder is never written: a mutated file is laid over it like an editor's unsaved text.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.test_selection import fit_selectors
from greenloop.project import workspace
from greenloop.project.settings import Settings
from greenloop.project.sources import file_patterns, is_trusted
from greenloop_lab.bench.hidden_tests import open_session
from greenloop_lab.bench.mutation.ast_edits import Source
from greenloop_lab.bench.mutation.mutants import OTHER_SEED, outcomes_by_case
from greenloop_lab.bench.mutation.mutate_project import MutantRequest, draw_mutants, find_mutant, mutant_task
from greenloop_lab.bench.mutation.operators import Function
from greenloop_lab.bench.tasks import Task
from greenloop_sandbox import Execution, SandboxPool, Session, TestRun
from greenloop_sandbox.report.cases import collect_errors
from greenloop_sandbox.report.traces import reached_functions

# Bounds on the lines of a function, and on the number of its judging cases.
MIN_LINES, MAX_LINES, MAX_CASES = 3, 60, 200
# The target is one failing test, or a class with at most this many failing cases.
MAX_SHOWN = 3
# Seconds for the unchanged cases; a mutant gets a multiple of their time, so that endless ones are discarded.
MAX_UNCHANGED_SECONDS, MIN_MUTANT_SECONDS, TIME_FACTOR = 60.0, 8.0, 5


@dataclass(frozen=True, kw_only=True)
class CoveredFunction:
    """A function, and the passing cases that reach it with its call depth below each of them.

    `red` are the cases of the whole suite that fail with the unchanged code.
    """

    path: str
    line: int
    cases: Mapping[str, int]
    red: Sequence[str]


async def from_folder(folder: Path, settings: Settings, request: MutantRequest) -> list[Task]:
    """Mutants, one per function; fewer where tests notice no more.

    Raises `UsageError` where no test passes or none reaches a function, `CannotVerifyError` where tests cannot be run.
    """
    root = workspace.check_root(folder)
    pool = SandboxPool()
    try:
        async with open_session(root, settings, pool, request.report_status) as session:
            request.report_status(f"running the tests of {root}, unchanged")
            seconds = max(settings.suite.seconds, settings.sandbox.longest)
            execution = await session.run(TestRun(selectors=(), trace=True, baseline=True, seconds=seconds))
            functions = _covered_functions(root, execution)
            random.Random(request.seed).shuffle(functions)  # noqa: S311
            tasks = await draw_mutants(
                _interleave_files(functions),
                lambda function, used: _from_function(root, session, function, request, used),
                request,
            )
    finally:
        await pool.close()
    if not tasks:
        raise UsageError(f"The tests of {root} noticed none of the changes that were tried.")
    return tasks


def _covered_functions(root: Path, execution: Execution) -> list[CoveredFunction]:
    """Covered functions in the order of paths and lines. An interrupted run counts as far as it went."""
    if execution.broken:
        raise CannotVerifyError(f"The tests of {root} cannot be run: {execution.broken}")
    by_case = outcomes_by_case(execution, complete_only=False) or {}
    passing = [case for case, outcome in by_case.items() if outcome == "passed"]
    red = tuple(case for case, outcome in by_case.items() if outcome in ("failed", "error"))
    if not passing:
        errors = collect_errors(execution)
        reason = f": {errors[0].failure.type}: {errors[0].failure.message}" if errors else ""
        raise UsageError(
            f"No test passes in {root}{reason}.",
            remedy="Name a folder with passing tests, and its interpreter with --set interpreter=... where needed.",
        )
    patterns = file_patterns(root)
    cases: dict[tuple[str, int], dict[str, int]] = {}
    for case, hits in reached_functions(execution).items():
        for hit in hits:
            if case in set(passing) and not hit.name.startswith("<") and not is_trusted(hit.path, patterns):
                cases.setdefault((hit.path, hit.firstlineno), {}).setdefault(case, hit.depth)
    if not cases:
        raise UsageError(f"The tests of {root} reach no function that may be changed.")
    return [
        CoveredFunction(path=path, line=line, cases=function_cases, red=red)
        for (path, line), function_cases in sorted(cases.items())
    ]


def _interleave_files(functions: Sequence[CoveredFunction]) -> Iterator[CoveredFunction]:
    """The functions, from each file in turn."""
    files: dict[str, list[CoveredFunction]] = {}
    for function in functions:
        files.setdefault(function.path, []).append(function)
    while files:
        for path in list(files):
            yield files[path].pop(0)
            if not files[path]:
                del files[path]


@dataclass(kw_only=True)
class _MutantTester:
    """Tries the mutants of one function."""

    session: Session
    path: str
    original: str
    cases: Sequence[str]
    seconds: float = MAX_UNCHANGED_SECONDS

    async def failing(self, text: str, *, hash_seed: int = 0) -> list[str] | None:
        """The failing cases; None where the run did not complete or a case neither passed nor failed."""
        run = TestRun(
            selectors=fit_selectors(self.cases),
            files={self.path: text.encode()},
            seconds=self.seconds,
            hash_seed=hash_seed,
        )
        execution = await self.session.run(run)
        by_case = outcomes_by_case(execution)
        if text == self.original:
            self.seconds = max(MIN_MUTANT_SECONDS, TIME_FACTOR * execution.seconds)
        if by_case is None or any(by_case.get(case, "missing") not in {"passed", "failed"} for case in self.cases):
            return None
        return [case for case in self.cases if by_case[case] == "failed"]

    async def fails(self, text: str) -> bool:
        return bool(await self.failing(text))


async def _from_function(
    root: Path, session: Session, function: CoveredFunction, request: MutantRequest, operator_counts: Mapping[str, int]
) -> Task | None:
    try:
        source = Source((root / function.path).read_bytes().decode())
    except (OSError, ValueError, SyntaxError):
        return None
    located = _function_at(source, function.line)
    if located is None:
        return None
    qualname, node = located
    family = f"mutant-{root.name}-{function.path.removesuffix('.py').replace('/', '.')}.{qualname}-"
    if not MIN_LINES <= (node.end_lineno or 0) - node.lineno + 1 <= MAX_LINES or request.is_excluded(family):
        return None
    trial = _MutantTester(
        session=session, path=function.path, original=source.text, cases=tuple(function.cases)[:MAX_CASES]
    )
    # Cases that fail unchanged, or differ with another hash seed, are left out.
    red = [*function.red]
    for hash_seed in (0, OTHER_SEED):
        failing = await trial.failing(source.text, hash_seed=hash_seed)
        if failing is None:
            return None
        red += failing
        trial.cases = [case for case in trial.cases if case not in failing]
    if not trial.cases:
        return None
    rng = random.Random(f"{request.seed} {family} {request.shape}")  # noqa: S311
    mutant = await find_mutant(source, node, trial.fails, request=request, rng=rng, operator_counts=operator_counts)
    if mutant is None:
        return None
    text, chosen = mutant
    failing = await trial.failing(text) or []
    chosen_target = _choose_target(sorted(failing, key=lambda case: function.cases[case]), trial.cases, red)
    if chosen_target is None:
        return None
    target, shown = chosen_target
    return mutant_task(
        family,
        request,
        text,
        chosen,
        target=target,
        shown=shown,
        files={function.path: text},
        cases=tuple(trial.cases),
        solution={function.path: source.text},
        folder=str(root),
        origin=f"{root.name} {function.path}",
        function=f"{function.path}::{qualname}",
    )


def _function_at(source: Source, line: int) -> tuple[str, Function] | None:
    """The function whose code begins at that line (its first decorator's), with its qualified name."""

    def inside(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[str, Function]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                first_line = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                if first_line == line:
                    yield ".".join([*names, child.name]), child
            elif isinstance(child, ast.ClassDef):
                yield from inside(child, (*names, child.name))

    return next(inside(source.tree, ()), None)


def _choose_target(
    failing: Sequence[str], cases: Sequence[str], red: Sequence[str]
) -> tuple[str, tuple[str, ...]] | None:
    """The target and its cases: the class of the failing tests, or the nearest of them to the function.

    None if each has a case that is red without the mutant too: no repair would turn it green.
    """
    owner, _, _name = _test_of_case(next(iter(failing), "")).rpartition("::")
    is_one_class = (
        "::" in owner and len(failing) <= MAX_SHOWN and all(case.startswith(f"{owner}::") for case in failing)
    )
    for target in [*[owner] * is_one_class, *map(_test_of_case, failing)]:
        if not any(_is_in(case, target) for case in red):
            return target, tuple(case for case in cases if _is_in(case, target))
    return None


def _is_in(case: str, target: str) -> bool:
    return _test_of_case(case) == target or case.startswith(f"{target}::")


def _test_of_case(case: str) -> str:
    """The test of a case, without its parameters."""
    return case.partition("[")[0]
