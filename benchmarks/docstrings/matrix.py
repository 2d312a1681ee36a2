"""What every test says of every program: candidates, the reference, and the reference broken in single places.

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

from benchmarks.docstrings import ground, task
from benchmarks.docstrings.ground import NEVER, PASSED
from benchmarks.docstrings.task import Docstring

from greenloop.bench.ast_edits import Source, apply_edits
from greenloop.bench.operators import all_edits
from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Reply, Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.usage import Usage
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.gate import check
from greenloop.engine.attempt_steps import read_answer
from greenloop.project import sources
from greenloop.specs.kinds import designer, properties
from greenloop.specs.kinds._stub_view import build_stub_view

ANSWERS = 9  # of a task
MUTANTS = 4
SEED = 3
SLOW = 8.0  # seconds that the judge gets


async def row(place: ground.Ground, wanted: Docstring, problem: Problem, answers: Mapping[str, Any]) -> dict[str, Any]:
    spec = tests(wanted, problem, answers)
    texts = programs(problem, answers)
    runner = Runner(place, wanted, spec)
    reference = await runner.seen(wanted.reference)
    candidates = []
    for text, numbers in texts.items():
        size = text.count("\n") - wanted.text.count("\n")
        seen = await runner.seen(text)
        fit = all(seen[case.id] == PASSED for case in wanted.examples.cases)  # else it is wrong by the docstring
        right, tested, _ended = await runner.judged(text) if fit else (False, False, True)
        candidates.append({"numbers": numbers, "size": size, "right": right, "tested": tested, "seen": seen})
    broken = []
    for mutant in mutants(wanted):
        right, _tested, ended = await runner.judged(mutant)
        if ended and not right:  # what never ends is found by any test
            broken.append({"right": right, "seen": await runner.seen(mutant)})
    return {
        "task": wanted.id,
        "real": wanted.folder != "mbpp",
        "examples": [case.id for case in wanted.examples.cases],
        "cases": [asdict(case) for case in spec.cases],
        "doubts": list(spec.doubts),
        "reference": reference,
        "candidates": candidates,
        "mutants": broken,
        "tokens": {name: told["prompt_tokens"] + told["completion_tokens"] for name, told in answers.items()},
    }


class Runner:
    def __init__(self, place: ground.Ground, wanted: Docstring, spec: Spec) -> None:
        self.place, self.wanted, self.spec = place, wanted, spec

    async def seen(self, text: str) -> dict[str, str]:
        """Of the docstring's examples and of the written tests; what never ends spoils its own kind only."""
        files = {self.wanted.path: text, **self.spec.files}
        found: dict[str, str] = {}
        if self.wanted.examples.cases:
            shown = await self.place.run(files, self.wanted.examples.selectors)
            found |= {case.id: shown.get(case.id, NEVER) for case in self.wanted.examples.cases}
        for kind in (designer.KIND, properties.KIND):
            ids = [case.id for case in self.spec.cases if f"test_greenloop_{kind}_" in case.id]
            told = await self.place.run(files, ids) if ids else {}
            found |= {case: told[case] for case in ids}
        return found

    async def judged(self, text: str) -> tuple[bool, bool, bool]:
        """Does it pass the whole judge, does it pass the tests in it, and did it end?"""
        files = {self.wanted.path: text, **self.wanted.files}
        told = await self.place.run(files, self.wanted.judge, seconds=SLOW)
        passed = {case for case, how in told.items() if how == PASSED}
        ended = NEVER not in told.values()
        return set(self.wanted.judge) <= passed, set(self.wanted.tests) <= passed, ended


def tests(wanted: Docstring, problem: Problem, answers: Mapping[str, Any]) -> Spec:
    """As the parts make them of the same answers."""
    module = sources.module_name(wanted.path, problem.root)
    about = build_stub_view(wanted.region, wanted.text)
    sets = [told["answer"] for name, told in sorted(answers.items()) if name.startswith("designer-")]
    spec = designer.build_spec(wanted.region, module, about, sets) if about else Spec()
    stated = [told["answer"] for name, told in sorted(answers.items()) if name.startswith("properties-")]
    for answer in stated:
        spec += properties.build_spec(wanted.region, wanted.text, module, answer)
    return spec


def programs(problem: Problem, answers: Mapping[str, Any]) -> dict[str, list[int]]:
    """The modules that the candidates make, each with the numbers of the answers that came to it."""
    first = Attempt(number=0, verdict=Verdict(status=Status.FAILED))
    found: dict[str, list[int]] = {}
    for name, told in sorted(answers.items()):
        if not name.startswith("candidate-"):
            continue
        number = int(name.partition("-")[2]) + 1
        draft = Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER)
        reply = Reply(text=told["answer"], usage=Usage(), model="", finish=told["finish"])
        attempt = read_answer(problem, number, draft, [first], reply)
        if attempt.candidate is None:
            continue
        files = compose(problem, attempt.candidate)
        if not check(problem, attempt.candidate, files, parent=None):
            found.setdefault(files[problem.regions[0].path], []).append(number)
    return found


def mutants(wanted: Docstring) -> list[str]:
    source = Source(wanted.reference)
    every = all_edits(source, task.function(wanted.reference, wanted.qualname))
    random.Random(SEED).shuffle(every)
    return [apply_edits(wanted.reference, edit) for edit in every[:MUTANTS]]


async def main(out: Path) -> None:
    file = out / "matrix.jsonl"
    known = {each["task"] for each in task.rows(file)}
    answers: dict[str, dict[str, Any]] = {}
    for told in task.rows(out / "answers.jsonl"):
        answers.setdefault(told["task"], {})[told["name"]] = told
    for wanted in task.read(out / "tasks.jsonl"):
        if wanted.id in known or len(answers.get(wanted.id, ())) < ANSWERS:
            continue
        async with ground.opened(out / "work" / wanted.folder) as place:
            made = await row(place, wanted, wanted.problem(out / "work"), answers[wanted.id])
        task.append(file, made)
        right = sum(len(each["numbers"]) for each in made["candidates"] if each["right"])
        good = sum(how == PASSED for case, how in made["reference"].items() if "::test_" in case)
        print(f"{wanted.id}: {right} right answers, {good} of {len(made['cases'])} tests right", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
