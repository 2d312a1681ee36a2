"""A tried candidate of `double`, and what a part says about it after asking a critic."""

from __future__ import annotations

from dataclasses import replace

from critic import Critic
from double_problem import HALF, PROBLEM, STUB, judge_files, make_answer
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.answers import parse_answer
from greenloop.engine.loop.candidate_runs import with_verdict


def make_problem(text: str = STUB, **more) -> Problem:
    end = text.count("\n")
    files = {**PROBLEM.files, "m.py": text}
    regions = (replace(PROBLEM.regions[0], end=end),)
    return replace(PROBLEM, files=files, originals=files, regions=regions, **more)


def tried(problem: Problem, expression: str = HALF) -> Attempt:
    candidate = parse_answer.read(make_answer(expression), problem)
    blank = Attempt(number=1, parent=0, candidate=candidate, verdict=Verdict(status=Status.REFUSED))
    return with_verdict(blank, judge_files({"m.py": f"def double(x):\n    return {expression}\n"}))


BASELINE = Attempt(number=0, verdict=Verdict(status=Status.FAILED))


async def described(part, problem: Problem, critic: Critic, *attempts: Attempt):
    return await part.describe(problem, [BASELINE, *attempts], critic.tools)
