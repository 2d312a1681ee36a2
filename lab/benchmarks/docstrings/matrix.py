"""Records what every test says of every program: candidates, the reference, and the reference broken in single places.

One row a task. Nothing asks a model; tasks whose answers are not all there yet are left for the next run.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.docstrings import case_runner, task
from benchmarks.docstrings.case_runner import NEVER, PASSED
from benchmarks.docstrings.task import Docstring
from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Reply, Role, Usage
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.checks.gate import check
from greenloop.engine.loop.candidate_runs import read_answer
from greenloop.plugins.written_tests.kinds import designer
from greenloop.plugins.written_tests.stub_view import build_stub_view
from greenloop.project import sources
from greenloop_lab.bench.mutation.ast_edits import Source, apply_edits
from greenloop_lab.bench.mutation.operators import all_edits
from greenloop_lab.specs.kinds import properties, stated_properties

ANSWERS = 9  # of a task
MUTANTS = 4
SEED = 3
SLOW = 8.0  # seconds that the judge gets


async def build_row(
    runner: case_runner.CaseRunner, docstring: Docstring, problem: Problem, answers: Mapping[str, Any]
) -> dict[str, Any]:
    spec = build_spec(docstring, problem, answers)
    texts = collect_programs(problem, answers)
    judge = ProgramJudge(runner, docstring, spec)
    reference = await judge.observe(docstring.reference)
    candidates = []
    for text, numbers in texts.items():
        size = text.count("\n") - docstring.text.count("\n")
        seen = await judge.observe(text)
        fit = all(seen[case.id] == PASSED for case in docstring.examples.cases)  # else it is wrong by the docstring
        right, tested, _ended = await judge.judge(text) if fit else (False, False, True)
        candidates.append({"numbers": numbers, "size": size, "right": right, "tested": tested, "seen": seen})
    broken = []
    for mutant in make_mutants(docstring):
        right, _tested, ended = await judge.judge(mutant)
        if ended and not right:  # what never ends is found by any test
            broken.append({"right": right, "seen": await judge.observe(mutant)})
    return {
        "task": docstring.id,
        "real": docstring.folder != "mbpp",
        "examples": [case.id for case in docstring.examples.cases],
        "cases": [asdict(case) for case in spec.cases],
        "doubts": list(spec.doubts),
        "reference": reference,
        "candidates": candidates,
        "mutants": broken,
        "tokens": {name: answer["prompt_tokens"] + answer["completion_tokens"] for name, answer in answers.items()},
    }


class ProgramJudge:
    def __init__(self, runner: case_runner.CaseRunner, docstring: Docstring, spec: Spec) -> None:
        self.runner, self.docstring, self.spec = runner, docstring, spec

    async def observe(self, text: str) -> dict[str, str]:
        """Of the docstring's examples and of the written tests; what never ends spoils its own kind only."""
        files = {self.docstring.path: text, **self.spec.files}
        found: dict[str, str] = {}
        if self.docstring.examples.cases:
            shown = await self.runner.run(files, self.docstring.examples.selectors)
            found |= {case.id: shown.get(case.id, NEVER) for case in self.docstring.examples.cases}
        for kind in (designer.KIND, properties.KIND):
            ids = [case.id for case in self.spec.cases if f"test_greenloop_{kind}_" in case.id]
            outcomes = await self.runner.run(files, ids) if ids else {}
            found |= {case: outcomes[case] for case in ids}
        return found

    async def judge(self, text: str) -> tuple[bool, bool, bool]:
        """Does it pass the whole judge, does it pass the tests in it, and did it end?"""
        files = {self.docstring.path: text, **self.docstring.files}
        outcomes = await self.runner.run(files, self.docstring.judge, seconds=SLOW)
        passed = {case for case, how in outcomes.items() if how == PASSED}
        ended = NEVER not in outcomes.values()
        return set(self.docstring.judge) <= passed, set(self.docstring.tests) <= passed, ended


def build_spec(docstring: Docstring, problem: Problem, answers: Mapping[str, Any]) -> Spec:
    """As the parts make them of the same answers."""
    module = sources.module_name(docstring.path, problem.root)
    about = build_stub_view(docstring.region, docstring.text)
    sets = [answer["answer"] for name, answer in sorted(answers.items()) if name.startswith("designer-")]
    spec = designer.build_spec(docstring.region, module, about, sets) if about else Spec()
    stated = [answer["answer"] for name, answer in sorted(answers.items()) if name.startswith("properties-")]
    for answer in stated:
        spec += stated_properties.build_spec(docstring.region, docstring.text, module, answer)
    return spec


def collect_programs(problem: Problem, answers: Mapping[str, Any]) -> dict[str, list[int]]:
    """The modules that the candidates make, each with the numbers of the answers that came to it."""
    first = Attempt(number=0, verdict=Verdict(status=Status.FAILED))
    found: dict[str, list[int]] = {}
    for name, answer in sorted(answers.items()):
        if not name.startswith("candidate-"):
            continue
        number = int(name.partition("-")[2]) + 1
        draft = Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER)
        reply = Reply(text=answer["answer"], usage=Usage(), model="", finish=answer["finish"])
        attempt = read_answer(problem, number, draft, [first], reply).attempt
        if attempt.candidate is None:
            continue
        files = compose(problem, attempt.candidate)
        if not check(problem, attempt.candidate, files, parent=None):
            found.setdefault(files[problem.regions[0].path], []).append(number)
    return found


def make_mutants(docstring: Docstring) -> list[str]:
    source = Source(docstring.reference)
    every = all_edits(source, task.find_function(docstring.reference, docstring.qualname))
    random.Random(SEED).shuffle(every)
    return [apply_edits(docstring.reference, edit) for edit in every[:MUTANTS]]


async def main(out: Path) -> None:
    file = out / "matrix.jsonl"
    known = {each["task"] for each in task.read_rows(file)}
    answers: dict[str, dict[str, Any]] = {}
    for answer in task.read_rows(out / "answers.jsonl"):
        answers.setdefault(answer["task"], {})[answer["name"]] = answer
    for docstring in task.read_tasks(out / "tasks.jsonl"):
        if docstring.id in known or len(answers.get(docstring.id, ())) < ANSWERS:
            continue
        async with case_runner.open_runner(out / "work" / docstring.folder) as runner:
            new_row = await build_row(runner, docstring, docstring.problem(out / "work"), answers[docstring.id])
        task.append_row(file, new_row)
        right = sum(len(each["numbers"]) for each in new_row["candidates"] if each["right"])
        good = sum(how == PASSED for case, how in new_row["reference"].items() if "::test_" in case)
        print(f"{docstring.id}: {right} right answers, {good} of {len(new_row['cases'])} tests right", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
