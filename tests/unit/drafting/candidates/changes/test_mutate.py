"""What is tried before a model is asked: in which order, and how much."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.changes.mutate import MOST, Stage, mutants

SOURCE = """class C:
    def f(self, items):
        total = 0
        for item in items:
            if item >= 0:
                total += item
        return total
"""
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(), selectors=()),
    regions=(Region(path="m.py", qualname="C.f", start=2, end=7),),
    originals={"m.py": SOURCE},
    files={"m.py": SOURCE},
)
USERS = Attempt(number=0, verdict=Verdict(status=Status.FAILED))


def test_candidates_come_suspected_first_and_are_bounded():
    problem = replace(PROBLEM, suspicion={"m.py": {7: 1.0}})
    first = next(mutants(problem, USERS, Stage.EDITS))
    assert compose(problem, first)["m.py"].split("\n")[6] != PROBLEM.files["m.py"].split("\n")[6]
    assert 10 < len(list(mutants(problem, USERS, Stage.EDITS))) <= MOST


def test_in_a_long_function_statements_are_left_out_before_names_are_exchanged():
    text = "def f(a, b):\n" + "".join(f"    a[{n}] = a[{n}] + b\n" for n in range(25)) + "    return a\n"
    problem = replace(
        PROBLEM,
        regions=(Region(path="m.py", qualname="f", start=1, end=27),),
        originals={"m.py": text},
        files={"m.py": text},
    )
    texts = [next(iter(each.texts.values())) for each in mutants(problem, USERS, Stage.EDITS)]
    lengths = [len(text.splitlines()) for text in texts]
    assert (len(lengths), lengths.count(26)) == (MOST, 26)
    assert "a[0] = b[0] + b" not in "".join(texts[: lengths.index(26)])
    assert any("a[0] = b[0] + b" in text for text in texts)
