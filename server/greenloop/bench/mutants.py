"""Repair tasks: a correct function with one or two lines broken, which some test notices.

The function's text and its tests are in view; all tests judge, and so do, where the tests call the function with
literals, the reference's own answers to calls like those.
"""

from __future__ import annotations

import ast
import hashlib
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from greenloop import engine, walls
from greenloop.bench import inputs, mbpp
from greenloop.bench.breaking import broken
from greenloop.bench.mbpp import INI, JUDGE, MODULE, TESTS, Row
from greenloop.bench.places import Source
from greenloop.bench.tasks import Task
from greenloop.core.nouns import Execution, Run
from greenloop.core.ports import Session
from greenloop.keeper import Keeper
from greenloop.runners.pytest import parse
from greenloop.settings import Settings

# A mutant that takes longer is none: what never ends would cost every arm its whole time.
SECONDS = 6.0
OTHER_SEED = 4_242


async def of_rows(
    rows: Sequence[Row],
    settings: Settings,
    *,
    count: int,
    lines: int,
    seed: int,
    shown: int | None,
    unwanted: Callable[[str], bool],
    say: Callable[[str], None],
) -> list[Task]:
    """`count` mutants, one a row, of rows in the order that the seed gives; fewer where there are no more.

    Raises `CannotVerify` where no sandbox can be used.
    """
    found: list[Task] = []
    for row in random.Random(seed).sample(list(rows), len(rows)):  # noqa: S311
        if len(found) == count:
            break
        if unwanted(family(row.number)):
            continue
        used = Counter(operator for task in found for operator in task.operators)
        if (task := await _of_row(row, settings, lines=lines, seed=seed, shown=shown, used=used)) is not None:
            found.append(task)
            say(f"{len(found)}/{count} {task.id}: {', '.join(task.operators)}")
    return found


def family(number: int) -> str:
    """What the names of all mutants of a row begin with."""
    return f"mutant-mbpp-{number}-"


def module(row: Row) -> str:
    """The reference as one reads it: the task's text is the docstring."""
    tree = ast.parse(row.reference)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == row.function.name:
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            node.body = [ast.Expr(ast.Constant(row.text)), *body]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


@dataclass(kw_only=True)
class _Ground:
    """Where the mutants of one row are tried: an open session, what lies in it, which cases are shown and judge."""

    session: Session
    files: Mapping[str, str]
    shown: Sequence[str]
    cases: Sequence[str] = field(default_factory=tuple)

    async def outcomes(self, text: str, *, hash_seed: int = 0) -> dict[str, str] | None:
        """Outcome by case; None where the run did not come to its end."""
        files = {path: each.encode() for path, each in {**self.files, MODULE: text}.items()}
        selectors = tuple(path for path in self.files if path.startswith("test_"))
        run = Run(selectors=selectors, files=files, seconds=SECONDS, hash_seed=hash_seed)
        return outcomes(await self.session.run(run))

    async def fails(self, text: str) -> bool:
        """Does a shown test fail, in a run that comes to its end?"""
        found = await self.outcomes(text)
        return found is not None and any(found.get(case) == "failed" for case in self.shown)


def outcomes(execution: Execution, *, whole: bool = True) -> dict[str, str] | None:
    """By case; None for a run that did not come to its end, where `whole` is asked for."""
    if whole and (execution.killed or execution.broken):
        return None
    return {result.id: result.outcome for result in parse(execution)}


async def _of_row(
    row: Row, settings: Settings, *, lines: int, seed: int, shown: int | None, used: Mapping[str, int]
) -> Task | None:
    visible = row.tests[: shown or max(len(row.tests) - 1, 1)]
    tests, target, cases = mbpp.tests_shown(row, visible)
    correct = module(row)
    judging = {JUDGE: mbpp.tests_judging(row), **inputs.judging(row)}
    keeper = Keeper()
    with TemporaryDirectory(prefix="greenloop-bench-") as name:
        root = Path(name) / "project"
        root.mkdir()
        (root / "pytest.ini").write_text(INI["pytest.ini"])
        place = await engine.place_of(root, settings)
        _sandbox, session = await walls.opened(place, settings, engine.quiet, keeper)
        try:
            ground = _Ground(session=session, files={TESTS: tests, **judging}, shown=cases)
            if not await _sound(ground, correct, row):
                return None
            source = Source(correct)
            function = next(
                n for n in source.tree.body if isinstance(n, ast.FunctionDef) and n.name == row.function.name
            )
            rng = random.Random(f"{seed} {row.number} {lines}")  # noqa: S311
            mutant = await broken(source, function, ground.fails, lines=lines, rng=rng, used=used)
        finally:
            await keeper.release(session)
            await keeper.close()
    if mutant is None:
        return None
    text, chosen = mutant
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    return Task(
        id=f"{family(row.number)}{lines}-{digest}",
        kind=f"mutant of {lines} line" + "s" * (lines > 1),
        target=target,
        shown=cases,
        files={**INI, MODULE: text, TESTS: tests},
        judge=judging,
        cases=tuple(ground.cases),
        solution={MODULE: correct},
        operators=tuple(edit.operator for edit in chosen),
        origin=f"mbpp {row.number}",
        function=f"{MODULE}::{row.function.name}",
    )


async def _sound(ground: _Ground, correct: str, row: Row) -> bool:
    """The reference passes all tests; of the answers to other calls only those that are the same twice judge."""
    first = await ground.outcomes(correct)
    second = await ground.outcomes(correct, hash_seed=OTHER_SEED)
    if first is None or second is None:
        return False
    own = [*ground.shown, *mbpp.judging(row)]
    if any(first.get(case) != "passed" or second.get(case) != "passed" for case in own):
        return False
    more = [case for case in first if case.startswith(inputs.TESTS) and first[case] == second.get(case) == "passed"]
    ground.cases = (*mbpp.judging(row), *more)
    return True
