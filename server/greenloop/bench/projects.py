"""Repair tasks from any project with tests: functions that passing tests reach, broken so that some of them fail.

The project's folder is never written: a broken file is laid over it as an editor's unsaved text is.
"""

from __future__ import annotations

import ast
import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop import engine, proofs, walls, workspace
from greenloop.bench.breaking import broken
from greenloop.bench.mutants import OTHER_SEED, outcomes
from greenloop.bench.operators import Function
from greenloop.bench.places import Source
from greenloop.bench.tasks import Task
from greenloop.core.errors import CannotVerify, UsageProblem
from greenloop.core.nouns import Execution, Run
from greenloop.core.ports import Session
from greenloop.core.records import collect_errors, reached
from greenloop.keeper import Keeper
from greenloop.settings import Settings
from greenloop.sources import file_patterns, is_trusted

# A function of fewer or more lines is no task; so many of the cases that reach it judge.
SHORTEST, LONGEST, MOST_CASES = 3, 60, 200
# Shown are the failing cases of one test, or of a class that has no more of them.
MOST_SHOWN = 3
# Seconds for the cases unchanged; a mutant gets a few times what they took: what never ends is no task.
LONG, SHORT, SLOWER = 60.0, 8.0, 5


@dataclass(frozen=True, kw_only=True)
class Reached:
    """A function, and the passing cases that reach it with how deep below each of them it is."""

    path: str
    line: int
    cases: Mapping[str, int]


async def of_folder(
    folder: Path,
    settings: Settings,
    *,
    count: int,
    lines: int,
    seed: int,
    unwanted: Callable[[str], bool],
    say: Callable[[str], None],
) -> list[Task]:
    """`count` mutants, one a function; fewer where tests notice no more.

    Raises `UsageProblem` where no test passes or none reaches a function, `CannotVerify` where nothing can be run.
    """
    root = workspace.checked_root(folder)
    keeper = Keeper()
    place = await engine.place_of(root, settings, say)
    _sandbox, session = await walls.opened(place, settings, engine.quiet, keeper)
    try:
        say(f"running the tests of {root}, unchanged")
        seconds = max(settings.suite.seconds, settings.sandbox.longest)
        execution = await session.run(Run(selectors=(), trace=True, baseline=True, seconds=seconds))
        functions = _functions(root, execution)
        random.Random(seed).shuffle(functions)  # noqa: S311
        found: list[Task] = []
        for function in _spread(functions):
            if len(found) == count:
                break
            used = Counter(operator for task in found for operator in task.operators)
            task = await _of_function(root, session, function, lines=lines, seed=seed, used=used, unwanted=unwanted)
            if task is not None:
                found.append(task)
                say(f"{len(found)}/{count} {task.id}: {', '.join(task.operators)}")
    finally:
        await keeper.release(session)
        await keeper.close()
    if not found:
        raise UsageProblem(f"No change of a function in {root} was noticed by its tests.")
    return found


def _functions(root: Path, execution: Execution) -> list[Reached]:
    """In the order of their paths and lines. What was cut short is used as far as it went."""
    if execution.broken:
        raise CannotVerify(f"The tests of {root} cannot be run: {execution.broken}")
    found = outcomes(execution, whole=False) or {}
    passing = [case for case, outcome in found.items() if outcome == "passed"]
    if not passing:
        errors = collect_errors(execution)
        why = f": {errors[0].failure.type}: {errors[0].failure.message}" if errors else ""
        raise UsageProblem(
            f"No test passes in {root}{why}.",
            remedy="Name a folder with passing tests, and its interpreter with --set interpreter=... where needed.",
        )
    patterns = file_patterns(root)
    cases: dict[tuple[str, int], dict[str, int]] = {}
    for case, hits in reached(execution).items():
        for hit in hits:
            if case in set(passing) and not hit.name.startswith("<") and not is_trusted(hit.path, patterns):
                cases.setdefault((hit.path, hit.firstlineno), {}).setdefault(case, hit.depth)
    if not cases:
        raise UsageProblem(f"The tests of {root} reach no function of it that may be changed.")
    return [Reached(path=path, line=line, cases=mine) for (path, line), mine in sorted(cases.items())]


def _spread(functions: Sequence[Reached]) -> Iterator[Reached]:
    """One of each file in turn."""
    files: dict[str, list[Reached]] = {}
    for function in functions:
        files.setdefault(function.path, []).append(function)
    while files:
        for path in list(files):
            yield files[path].pop(0)
            if not files[path]:
                del files[path]


@dataclass(kw_only=True)
class _Ground:
    """Where the mutants of one function are tried."""

    session: Session
    path: str
    original: str
    cases: Sequence[str]
    seconds: float = LONG

    async def failing(self, text: str, *, hash_seed: int = 0) -> list[str] | None:
        """The cases that do not pass; None where the run did not come to its end or something else happened."""
        run = Run(
            selectors=proofs.selectors(self.cases),
            files={self.path: text.encode()},
            seconds=self.seconds,
            hash_seed=hash_seed,
        )
        execution = await self.session.run(run)
        found = outcomes(execution)
        if text == self.original:
            self.seconds = max(SHORT, SLOWER * execution.seconds)
        if found is None or any(found.get(case, "missing") not in {"passed", "failed"} for case in self.cases):
            return None
        return [case for case in self.cases if found[case] == "failed"]

    async def fails(self, text: str) -> bool:
        return bool(await self.failing(text))


async def _of_function(
    root: Path,
    session: Session,
    function: Reached,
    *,
    lines: int,
    seed: int,
    used: Mapping[str, int],
    unwanted: Callable[[str], bool],
) -> Task | None:
    try:
        source = Source((root / function.path).read_bytes().decode())
    except (OSError, ValueError, SyntaxError):
        return None
    found = _at(source, function.line)
    if found is None:
        return None
    qualname, node = found
    family = f"mutant-{root.name}-{function.path.removesuffix('.py').replace('/', '.')}.{qualname}-"
    if not SHORTEST <= (node.end_lineno or 0) - node.lineno + 1 <= LONGEST or unwanted(family):
        return None
    ground = _Ground(
        session=session, path=function.path, original=source.text, cases=tuple(function.cases)[:MOST_CASES]
    )
    # What fails unchanged, or is different with another hash seed, judges nobody.
    for hash_seed in (0, OTHER_SEED):
        failing = await ground.failing(source.text, hash_seed=hash_seed)
        if failing is None:
            return None
        ground.cases = [case for case in ground.cases if case not in failing]
    if not ground.cases:
        return None
    rng = random.Random(f"{seed} {family} {lines}")  # noqa: S311
    mutant = await broken(source, node, ground.fails, lines=lines, rng=rng, used=used)
    if mutant is None:
        return None
    text, chosen = mutant
    failing = await ground.failing(text)
    if not failing:
        return None
    target, shown = _shown(sorted(failing, key=lambda case: function.cases[case]), ground.cases)
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    return Task(
        id=f"{family}{lines}-{digest}",
        kind=f"mutant of {lines} line" + "s" * (lines > 1),
        target=target,
        shown=shown,
        files={function.path: text},
        cases=tuple(ground.cases),
        solution={function.path: source.text},
        folder=str(root),
        operators=tuple(edit.operator for edit in chosen),
        origin=f"{root.name} {function.path}",
        function=f"{function.path}::{qualname}",
    )


def _at(source: Source, line: int) -> tuple[str, Function] | None:
    """The function whose code begins at that line (its first decorator's), with its qualified name."""

    def inside(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[str, Function]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                if first == line:
                    yield ".".join([*names, child.name]), child
            elif isinstance(child, ast.ClassDef):
                yield from inside(child, (*names, child.name))

    return next(inside(source.tree, ()), None)


def _shown(failing: Sequence[str], cases: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The target and the judging cases that it stands for: the failing test nearest to the function, or its class."""
    first = failing[0]
    owner, _, _name = _test(first).rpartition("::")
    if "::" in owner and len(failing) <= MOST_SHOWN and all(case.startswith(f"{owner}::") for case in failing):
        return owner, tuple(case for case in cases if case.startswith(f"{owner}::"))
    return _test(first), tuple(case for case in cases if _test(case) == _test(first))


def _test(case: str) -> str:
    """The test of a case, without what it is parametrised with."""
    return case.partition("[")[0]
