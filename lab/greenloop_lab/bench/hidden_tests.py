"""Judges candidates in the sandbox by tests that the engine never saw, and makes such tests for mutants.

The tests compare with the reference's results for calls like those tested. A call with literal arguments is varied by
changing one literal at a time; calls for which the reference raises are not required.
"""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop.core.python.ast_source import parse_module_strictly
from greenloop.core.records.verdict import Status
from greenloop.core.test_selection import fit_selectors
from greenloop.core.verdict import judge
from greenloop.engine import sandbox_spec
from greenloop.project import sandbox_selection
from greenloop.project.settings import Settings
from greenloop_lab.bench.mbpp import MODULE, Row
from greenloop_lab.bench.tasks import Task
from greenloop_sandbox import SandboxPool, Session, TestRun


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The judging cases that pass (`passed` of `total`); do all of them (`right`), do all shown ones (`shown`)?"""

    right: bool
    shown: bool
    passed: int
    total: int


# A busy machine must not change a judgement, so the time limit is this many times that of a test run. A candidate that
# hangs must not hold its task for long, so it is no more than so many seconds, unless a setting gives more.
TIME_FACTOR, MAX_SECONDS = 4, 60.0
NOT_RUN = Judgement(right=False, shown=False, passed=0, total=0)  # without a run


@asynccontextmanager
async def open_session(
    root: Path,
    settings: Settings,
    pool: SandboxPool,
    report_status: Callable[[str], None] = sandbox_spec.ignore_status,
    variables: Mapping[str, str] | None = None,
) -> AsyncIterator[Session]:
    """A session in the first usable sandbox. Raises `CannotVerifyError` where none can be used."""
    spec = await sandbox_spec.build_sandbox_spec(root, settings, report_status, variables)
    _sandbox, session = await sandbox_selection.open_first(spec, settings, sandbox_spec.ignore_status, pool)
    try:
        yield session
    finally:
        await pool.release(session)


@dataclass(kw_only=True)
class Judge:
    """The judge of one task. Texts are run only once; `report_status` gets a line for those that took too long."""

    task: Task
    root: Path
    settings: Settings
    pool: SandboxPool
    variables: Mapping[str, str] = field(default_factory=dict)
    report_status: Callable[[str], None] = sandbox_spec.ignore_status
    judgements: dict[str, Judgement] = field(default_factory=dict)

    async def __call__(self, texts: Mapping[str, str]) -> Judgement:
        """Judges whole files by path, laid over the task. Raises `CannotVerifyError` where no sandbox can be used."""
        key = json.dumps(sorted(texts.items()))
        if key not in self.judgements:
            async with open_session(self.root, self.settings, self.pool, variables=self.variables) as session:
                self.judgements[key] = await self._run(session, texts)
        return self.judgements[key]

    @property
    def seconds(self) -> float:
        """The time limit of one run."""
        own = self.settings.sandbox.seconds
        return max(min(TIME_FACTOR * own, MAX_SECONDS), own, self.settings.suite.seconds)

    async def _run(self, session: Session, texts: Mapping[str, str]) -> Judgement:
        files = {**self.task.files, **texts, **self.task.judge}
        cases, shown = list(self.task.cases), list(self.task.shown)
        run = TestRun(
            selectors=fit_selectors(list(dict.fromkeys([*cases, *shown]))),
            files={path: text.encode() for path, text in files.items()},
            seconds=self.seconds,
        )
        execution = await session.run(run)
        verdict, shown_verdict = judge(cases, {}, execution), judge(shown, {}, execution)
        if verdict.status is Status.TIMEOUT:
            self.report_status(
                f"{self.task.id}: the hidden tests took longer than {self.seconds:g} s; this candidate counts as wrong"
            )
        return Judgement(
            right=verdict.status is Status.PASSED,
            shown=shown_verdict.status is Status.PASSED,
            passed=verdict.passed,
            total=verdict.total,
        )


REFERENCE, TESTS = "reference_.py", "test_inputs.py"  # the files that judge
# Calls generated from one call, and for one row in total.
VARIANTS_PER_CALL, MAX_CALLS = 6, 18

_HEAD = f"""\
import {REFERENCE.removesuffix(".py")} as reference
import {{module}} as solution


def same(one, other):
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == other or abs(one - other) <= 1e-6 * max(abs(one), abs(other)) or one != one and other != other
    if type(one) is type(other) and isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def agree(call):
    try:
        wanted = call(reference)
    except Exception:
        return
    assert same(wanted, call(solution))
"""


def judging_files(row: Row) -> dict[str, str]:
    """The judging files; none where no test calls the function with only literals."""
    similar = similar_calls_in(row)
    return comparing_files(row.reference + "\n", MODULE.removesuffix(".py"), similar) if similar else {}


def comparing_files(reference: str, module: str, calls: Sequence[str]) -> dict[str, str]:
    """A test for each call, like `f(1)`: `module` has to give what the text of the reference gives."""
    tests = (
        f"\n\ndef test_{number}():\n    agree(lambda module: module.{call})\n" for number, call in enumerate(calls, 1)
    )
    return {REFERENCE: reference, TESTS: _HEAD.format(module=module) + "".join(tests)}


def similar_calls_in(row: Row) -> list[str]:
    """Calls like `f(1, 'b')`, in a fixed order, without those of the tests."""
    test_calls, generated = [], []
    for text in row.tests:
        for node in ast.walk(parse_module_strictly(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == row.function.name:
                if any(isinstance(each, ast.Starred) for each in node.args) or node.keywords:
                    continue
                try:
                    values = [ast.literal_eval(each) for each in node.args]
                except ValueError:
                    continue
                test_calls.append(_call(row, values))
                generated.append([_call(row, each) for each in _similar_calls(values)][:VARIANTS_PER_CALL])
    unique = dict.fromkeys(call for group in generated for call in group)
    return [call for call in unique if call not in test_calls][:MAX_CALLS]


def _call(row: Row, values: list[Any]) -> str:
    return f"{row.function.name}({', '.join(map(repr, values))})"


def _similar_calls(values: list[Any]) -> Iterator[list[Any]]:
    """Variants of the arguments, one argument changed at a time, in rounds over all of them."""
    variants_by_argument = [list(_variants(value)) for value in values]
    for turn in range(max(map(len, variants_by_argument), default=0)):
        for index, variants in enumerate(variants_by_argument):
            if turn < len(variants):
                changed = copy.deepcopy(values)
                changed[index] = variants[turn]
                yield changed


def _variants(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, max(value - 1, 0), value + 4)
    elif isinstance(value, float):
        yield from (value + 1.0, value / 2)
    elif isinstance(value, str):
        yield from (value[::-1], value[:-1], value[1:] + value[:1], value + value[-1:])
    elif isinstance(value, list | tuple):
        yield value[::-1]
        yield value[:-1]
        for index, item in enumerate(value[:2]):
            for other in list(_variants(item))[:1]:
                yield type(value)([*value[:index], other, *value[index + 1 :]])
        yield type(value)([*value, *value[:1]])
    elif isinstance(value, dict):
        yield dict(list(value.items())[:-1])
