"""Measures designed tests by right and by wrong programs, as CodeContests-O does (arXiv 2601.13682).

The right program of a task is its solution, the wrong ones are mutants of it that the task's hidden tests refuse.
It must not know which tests would be believed in a run.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from greenloop.core import registry
from greenloop.core.ports import NoUser, Tools
from greenloop.core.python.ast_source import find_definitions, parse_module_strictly
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.model import ChatRequest, Reply
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.text.diff import split_lines
from greenloop.plugins.function_calls.changed_functions import find_changed_functions
from greenloop.project.settings import Settings
from greenloop.project.sources import read_text
from greenloop_lab.bench.hidden_tests import Judge, open_session
from greenloop_lab.bench.mutation.ast_edits import Source, apply_edits
from greenloop_lab.bench.mutation.operators import all_edits
from greenloop_lab.bench.reporting.figures import wilson
from greenloop_lab.bench.task_folder import lay_out_task
from greenloop_lab.bench.tasks import Task
from greenloop_sandbox import SandboxPool, Session, TestRun, case_results

MUTANTS = 8  # of a solution; those that the hidden tests do not refuse are left out
SEED = 3

Ask = Callable[[ChatRequest], Awaitable[Reply]]
Counts = tuple[int, int]  # those for which it holds, and all


@dataclass(frozen=True, kw_only=True)
class TaskVerdicts:
    """Designed tests of a task that each program passes: the right one, and each wrong one, in the same order."""

    right: Sequence[bool]
    wrong: Sequence[Sequence[bool]]


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Rates of designed tests.

    `tests` are single tests that the right program passes; `true_positives` right programs that pass all tests of their
    task, `false_positives` wrong ones that do; `sound` the same of the tests that the right program passes.
    """

    tests: Counts
    true_positives: Counts
    false_positives: Counts
    sound: Counts


def measure_rates(verdicts: Sequence[TaskVerdicts]) -> Rates:
    """The rates over all tasks that have tests."""
    tested = [each for each in verdicts if each.right]
    sound = [
        all(passed for passed, is_right in zip(program, each.right, strict=True) if is_right)
        for each in tested
        for program in each.wrong
    ]
    return Rates(
        tests=_count([passed for each in tested for passed in each.right]),
        true_positives=_count([all(each.right) for each in tested]),
        false_positives=_count([all(program) for each in tested for program in each.wrong]),
        sound=_count(sound),
    )


def _count(found: Sequence[bool]) -> Counts:
    return sum(found), len(found)


def format_share(counts: Counts) -> str:
    """`37 of 91, 41 % (31 to 51 %)`: the share with its 95 % Wilson interval."""
    good, count = counts
    low, high = wilson(good, count)
    return f"{good} of {count}, {good / count:.0%} ({low:.0%} to {high:.0%})" if count else "-"


def format_rates(rates: Rates, tasks: int) -> str:
    """The figures as lines for the terminal."""
    rows = [
        ("right tests", rates.tests),
        ("true positives: right programs that pass all tests of their task", rates.true_positives),
        ("false positives: wrong programs that pass all tests of their task", rates.false_positives),
        ("false positives where only right tests count", rates.sound),
    ]
    width = max(len(name) for name, _counts in rows)
    head = f"{rates.tests[1]} designed tests of {rates.true_positives[1]} of {tasks} tasks; shares with 95 % intervals."
    return "\n".join([head, *(f"{name:{width}}  {format_share(counts)}" for name, counts in rows)])


async def rate_task(
    task: Task, settings: Settings, ask: Ask, report_status: Callable[[str], None]
) -> TaskVerdicts | None:
    """Designs tests for the function of a task and runs its programs over them; None where it has no such function.

    Raises `CannotVerifyError` where no sandbox can be used.
    """
    pool = SandboxPool()
    with TemporaryDirectory(prefix="greenloop-bench-") as name:
        place = lay_out_task(task, Path(name), settings)
        target = find_target(task, lambda path: task.files.get(path) or read_text(place.root, path) or "")
        if target is None:
            report_status(f"{task.id}: it has not one function with a docstring and a solution")
            return None
        region, text = target
        judge = Judge(task=task, root=place.root, settings=settings, pool=pool, variables=place.variables)
        try:
            async with open_session(place.root, settings, pool, variables=place.variables) as session:
                spec = await _design(task, region, text, place.root, session, ask)
                if not (await judge(task.solution)).right:
                    report_status(f"{task.id}: its solution does not pass its hidden tests")
                    return None
                wrong = [each for each in wrong_programs(task, region, text) if not (await judge(each)).right]
                seconds = settings.sandbox.seconds
                verdicts = [await _passes(session, task, spec, each, seconds) for each in (task.solution, *wrong)]
        finally:
            await pool.close()
    found = TaskVerdicts(right=verdicts[0], wrong=verdicts[1:])
    report_status(f"{task.id}: {sum(found.right)} of {len(found.right)} tests are right; {len(wrong)} wrong programs")
    return found


def find_target(task: Task, text_of: Callable[[str], str]) -> tuple[Region, str] | None:
    """The one function with a docstring that the solution changes, in the text that the engine gets, with this text."""
    files = {path: text_of(path) for path in task.solution if path.endswith(".py")}
    changed = find_changed_functions(files, task.solution)
    if len(changed) != 1:
        return None
    (function,) = changed
    text = files[function.path]
    for qualname, node in find_definitions(parse_module_strictly(text).body):
        if qualname == function.qualname and isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            return Region(path=function.path, qualname=qualname, start=start, end=node.end_lineno or start), text
    return None


def wrong_programs(task: Task, region: Region, text: str) -> list[Mapping[str, str]]:
    """Programs that may be wrong: the task's own broken text, and mutants of its solution."""
    solution = task.solution[region.path]
    source = Source(solution)
    nodes = dict(find_definitions(source.tree.body))
    node = nodes[region.qualname]
    assert isinstance(node, ast.FunctionDef)
    edits = all_edits(source, node)
    random.Random(SEED).shuffle(edits)  # noqa: S311
    own = "".join(split_lines(text)[region.start - 1 : region.end])
    texts = [] if is_unwritten(own) else [text]
    texts += [apply_edits(solution, edit) for edit in edits[:MUTANTS]]
    return [{**task.solution, region.path: each} for each in texts]


async def _design(task: Task, region: Region, text: str, root: Path, session: Session, ask: Ask) -> Spec:
    texts = {region.path: text}
    problem = Problem(root=root, spec=Spec(), regions=(region,), originals=texts, files={**task.files, **texts})
    run: Any = None  # the designer runs nothing
    tools = Tools(ask=ask, run=run, session=session, user=NoUser(), rng=random.Random(SEED))  # noqa: S311
    spec: Spec = await registry.load_part("specs", "designer").collect(problem, tools)
    return spec


async def _passes(
    session: Session, task: Task, spec: Spec, program: Mapping[str, str], seconds: float
) -> tuple[bool, ...]:
    """Returns which tests the program passes; one that does not end fails those that had not begun, too."""
    if not spec.selectors:
        return ()
    files = {path: text.encode() for path, text in {**task.files, **program, **spec.files}.items()}
    execution = await session.run(TestRun(selectors=spec.selectors, files=files, seconds=seconds))
    if execution.broken:
        raise RuntimeError(execution.broken)
    passed = {result.id for result in case_results(execution) if result.passed}
    return tuple(case in passed for case in spec.selectors)
