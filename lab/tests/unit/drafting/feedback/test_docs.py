"""Which failures are about a library, what is asked of it, and that an odd answer does no harm."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from greenloop.core.records.attempt import Attempt, FeedbackNote, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop_lab.drafting.feedback import docs
from greenloop_sandbox import CaseResult, Execution, Failure, Frame

CODE = "import numpy as np\nfrom math import sqrt\n\n\ndef f(n):\n    return np.linspace(0, sqrt(n), nu=n)\n"
REGION = Region(path="m.py", qualname="f", start=5, end=6)
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(), selectors=()),
    regions=(REGION,),
    originals={"m.py": CODE},
    files={"m.py": CODE},
)


def failed(kind: str, message: str, line: int = 6) -> Attempt:
    failure = Failure(type=kind, message=message, frames=(Frame(path="m.py", line=line, function="f"),))
    cases = (CaseResult(id="test_m.py::t", outcome="failed", failure=failure),)
    return Attempt(number=1, verdict=Verdict(status=Status.FAILED, cases=cases))


def asked(kind: str, message: str, line: int = 6) -> list[tuple[str, str, str]]:
    found = docs.find_questions(PROBLEM, failed(kind, message, line))
    return [(each["kind"], each["owner"], each["name"]) for each in found]


@pytest.mark.parametrize(
    ("kind", "message", "question"),
    [
        ("AttributeError", "module 'math' has no attribute 'foo'", ("attribute", "math", "foo")),
        ("AttributeError", "'str' object has no attribute 'push'. Did you mean", ("attribute", "str", "push")),
        ("AttributeError", "type object 'a.B' has no attribute 'c'", ("attribute", "a.B", "c")),
        ("ImportError", "cannot import name 'a' from 'b.c' (/x/b/c.py)", ("attribute", "b.c", "a")),
        ("ModuleNotFoundError", "No module named 'nunpy'", ("module", "", "nunpy")),
        ("NameError", "name 'deque' is not defined", ("name", "", "deque")),
        ("TypeError", "linspace() got an unexpected keyword argument 'nu'", ("call", "numpy.linspace", "")),
        ("TypeError", "math.sqrt() takes exactly one argument (2 given)", ("call", "math.sqrt", "")),
        ("TypeError", "list.append() takes exactly one argument (2 given)", ("call", "list.append", "")),
    ],
)
def test_what_is_asked(kind, message, question):
    assert question in asked(kind, message)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("AssertionError", "module 'math' has no attribute 'foo'"),
        ("AttributeError", "'NoneType' object has no attribute 'a'"),
        ("AttributeError", "something else"),
        ("TypeError", "f() got an unexpected keyword argument 'x'"),
        ("TypeError", "f.<locals>.g() missing 1 required positional argument: 'a'"),
        ("TypeError", "unsupported operand type(s) for +: 'int' and 'str'"),
        ("KeyError", "'a'"),
    ],
)
def test_what_is_not_asked(kind, message):
    assert asked(kind, message) == []


def test_a_name_that_the_gate_found_missing_is_asked_for():
    finding = Finding(error_class="UndefinedName", message="name `sqrt` is not defined; it is used in line 3.")
    attempt = Attempt(number=1, verdict=Verdict(status=Status.REFUSED), finding=finding)
    (question,) = docs.find_questions(PROBLEM, attempt)
    assert (question["kind"], question["name"]) == ("name", "sqrt")
    assert question["modules"] == ["numpy", "math.sqrt", "math"]


def test_a_few_questions_at_most_and_each_once():
    cases = failed("NameError", "name 'a' is not defined").verdict.cases * 5
    cases += tuple(failed("NameError", f"name 'b{n}' is not defined").verdict.cases[0] for n in range(50))
    attempt = Attempt(number=1, verdict=Verdict(status=Status.FAILED, cases=cases))
    assert [each["name"] for each in docs.find_questions(PROBLEM, attempt)] == ["a", "b0", "b1"]


def answering(*messages: str, **more) -> SimpleNamespace:
    """Tools whose session answers with these failure messages."""
    runs = []

    async def run(run):
        runs.append(run)
        ids = [f"{docs.FILE}::ApiLookup::test_{number}" for number in range(len(messages))]
        records = [{"kind": "collected", "cases": [{"id": case, "path": docs.FILE, "line": 1} for case in ids]}]
        for case, message in zip(ids, messages, strict=True):
            records.append({"kind": "phase", "id": case, "when": "setup", "outcome": "passed", "type": None})
            records.append(
                {"kind": "phase", "id": case, "when": "call", "outcome": "failed", "type": "A", "message": message}
            )
        return replace(Execution(records=tuple(records), seconds=0.25), **more)

    return SimpleNamespace(session=SimpleNamespace(run=run), runs=runs)


WRONG = failed("AttributeError", "module 'math' has no attribute 'foo'")


async def test_an_attribute_error_triggers_a_look_up_and_an_assertion_does_not():
    found = answering(json.dumps({"owner": "math", "exists": False, "names": [{"name": "math.fsum", "doc": "Sums."}]}))
    note = await docs.describe(PROBLEM, [WRONG], found)
    assert note.text == "`math.foo` does not exist. Nearest:\nmath.fsum: Sums."
    assert note.usage.test_seconds == 0.25
    assert (found.runs[0].selectors, list(found.runs[0].files)) == ((docs.FILE,), [docs.FILE])
    none = answering()
    assert await docs.describe(PROBLEM, [failed("AssertionError", "assert 1 == 2")], none) == FeedbackNote(text="")
    assert none.runs == []


@pytest.mark.parametrize(
    "message", ["{}", "[]", "no JSON", "", "[" * 100_000, '{"names": [1, null]}', '{"names": 1}', '{"all": 2}']
)
async def test_an_odd_answer_says_nothing(message):
    assert (await docs.describe(PROBLEM, [WRONG], answering(message))).text == ""


async def test_a_broken_sandbox_says_nothing():
    assert (await docs.describe(PROBLEM, [WRONG], answering("{}", broken="no wall"))).text == ""


async def test_long_answers_are_cut():
    item = {"name": "n" * 500, "signature": "(" + "a" * 5000, "doc": "d" * 5000}
    note = await docs.describe(PROBLEM, [WRONG], answering(json.dumps({"names": [item] * 3})))
    assert len(note.text) < 1000


def test_the_lookup_runs_on_the_oldest_python():
    ast.parse(docs.lookup_file([{"kind": "name"}]), feature_version=(3, 9))
