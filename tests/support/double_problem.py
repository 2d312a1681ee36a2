"""One small problem, its tests decided by a table instead of a sandbox: `double(x)` must be twice x."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop_sandbox import CaseResult, Failure

STUB = 'def double(x):\n    """Twice x."""\n    raise NotImplementedError\n'
TESTS = "from m import double\n\n\ndef test_five():\n    assert double(5) == 10\n\n\ndef test_two():\n    assert double(2) == 4\n"
CASES = {"test_m.py::test_five": (5, 10, 4), "test_m.py::test_two": (2, 4, 8)}
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(
        cases=tuple(Case(id=name, path="test_m.py", line=line) for name, (_x, _y, line) in CASES.items()),
        selectors=tuple(CASES),
    ),
    regions=(Region(path="m.py", qualname="double", start=1, end=3),),
    originals={"m.py": STUB, "test_m.py": TESTS},
    files={"m.py": STUB, "test_m.py": TESTS},
)


def make_answer(expression: str) -> str:
    return f'```python\ndef double(x):\n    """Twice x."""\n    return {expression}\n```'


HALF = "x + 2"  # right for 2 alone
WRONG = ["x + 1", "x + 3", "x + 4", "x + 6", "x + 7", "x + 8", "x + 9", "x + 10", "x + 11", "x + 12"]
RIGHT = "2 * x"


def judge_files(files) -> Verdict:
    """What the tests say of a text, by a table instead of a sandbox."""
    space: dict = {}
    exec(files["m.py"], space)
    results = []
    for name, (argument, expected, _line) in CASES.items():
        observed = space["double"](argument)
        failure = Failure(
            type="AssertionError",
            message=f"assert {observed} == {expected}",
            text=f">       assert double({argument}) == {expected}\nE       assert {observed} == {expected}",
            expected=str(expected),
            observed=str(observed),
        )
        passed = observed == expected
        results.append(
            CaseResult(id=name, outcome="passed" if passed else "failed", failure=None if passed else failure)
        )
    status = Status.PASSED if all(result.passed for result in results) else Status.FAILED
    return Verdict(status=status, cases=tuple(results))


def failing_verdict() -> Verdict:
    failure = Failure(type="NotImplementedError", message="")
    return Verdict(
        status=Status.FAILED, cases=tuple(CaseResult(id=name, outcome="failed", failure=failure) for name in CASES)
    )


BASELINE = Attempt(number=0, verdict=failing_verdict(), error_class="NotImplementedError")


def make_attempt(number: int, expression: str) -> Attempt:
    text = f"def double(x):\n    return {expression}\n"
    candidate = Candidate(texts={PROBLEM.regions[0]: text})
    return Attempt(number=number, candidate=candidate, verdict=judge_files({"m.py": text}))
