"""Attempts at the function `double`."""

from __future__ import annotations

from double_problem import PROBLEM, failing_verdict, judge_files
from greenloop.core.records.attempt import Attempt, Candidate

REGION = PROBLEM.regions[0]
BASELINE = Attempt(number=0, verdict=failing_verdict(), error_class="NotImplementedError")


def attempt(number: int, expression: str) -> Attempt:
    text = f"def double(x):\n    return {expression}\n"
    return Attempt(number=number, candidate=Candidate(texts={REGION: text}), verdict=judge_files({"m.py": text}))
