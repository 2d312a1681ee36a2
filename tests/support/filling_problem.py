"""A class with four unwritten methods, and attempts at it."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.attempt import Attempt, Candidate, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop_sandbox import CaseResult, Failure, Frame

NAMES = ("__init__", "push", "pop", "size")
REGIONS = tuple(
    Region(path="m.py", qualname=f"Stack.{name}", start=2 * row, end=2 * row + 1) for row, name in enumerate(NAMES, 1)
)
CODE = "class Stack:\n" + "".join(f"    def {name}(self):\n        raise NotImplementedError\n" for name in NAMES)
TESTS = "def test_a():\n    stack = Stack()\n    stack.push(1)\n    assert stack.pop() == 1\n"
CASES = tuple(Case(id=f"t.py::test_{name}", path="t.py", line=1) for name in "ab")
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=CASES, selectors=("t.py",)),
    regions=REGIONS,
    originals={"m.py": CODE, "t.py": TESTS},
    files={"m.py": CODE, "t.py": TESTS},
)
WHOLE = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)


def failed(line: int, function: str = "") -> Failure:
    inner = (Frame(path="m.py", line=3, function=function),) if function else ()
    return Failure(type="E", message="", frames=(Frame(path="t.py", line=line, function="test_a"), *inner))


def attempt(number: int, draft: Draft | None = None, first: Failure | None = None, second: Failure | None = None):
    results = zip(CASES, (first, second), strict=True)
    return Attempt(
        number=number,
        parent=draft.parent if draft else None,
        draft=draft,
        candidate=Candidate(texts={REGIONS[0]: f"def __init__(self):\n    self.n = {number}\n"}) if draft else None,
        verdict=Verdict(
            status=Status.FAILED,
            cases=tuple(
                CaseResult(id=case.id, outcome="failed" if failure else "passed", failure=failure)
                for case, failure in results
            ),
        ),
    )


BASELINE = attempt(0, None, failed(2, "Stack.__init__"), failed(2, "Stack.__init__"))


def names(regions) -> list[str]:
    return [region.qualname.partition(".")[2] for region in regions]
