"""A failing case told block by block."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from greenloop.core.records.attempt import Attempt, Candidate, Finding
from greenloop.core.records.model import Reply, Usage
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop_lab.drafting.feedback import ldb, runtime_trace
from greenloop_sandbox import CaseResult, Execution, Failure, Frame, WatchedLines
from greenloop_sandbox.report.traces import TracedStep

CODE = "def total(items):\n    s = 0\n    t = 1\n    for i in items:\n        s = i\n    return s\n"
TEST = "from m import total\n\ndef test_it():\n    assert total([1, 2]) == 3\n"
REGION = Region(path="m.py", qualname="total", start=1, end=6)
CASE = "test_m.py::test_it"
FAILURE = Failure(
    type="AssertionError",
    message="assert 2 == 3",
    frames=(Frame(path="test_m.py", line=4, function="test_it"),),
    expected="3",
    observed="2",
)


def problem(code: str = CODE) -> Problem:
    texts = {"m.py": code, "test_m.py": TEST}
    spec = Spec(cases=(Case(id=CASE, path="test_m.py", line=3),), selectors=(CASE,))
    return Problem(root=Path("/w"), spec=spec, regions=(REGION,), originals=texts, files=texts)


def attempt(**more) -> Attempt:
    case = CaseResult(id=CASE, outcome="failed", failure=FAILURE)
    return replace(Attempt(number=1, verdict=Verdict(status=Status.FAILED, cases=(case,))), **more)


def steps(*told: tuple[int, dict[str, str]], call: int = 1) -> tuple[TracedStep, ...]:
    return tuple(TracedStep(path="m.py", line=line, call=call, values=values) for line, values in told)


RAN = steps(
    (2, {"items": "[1, 2]"}), (3, {"s": "0"}), (4, {"t": "1"}), (5, {"i": "1"}), (4, {"s": "1"}), (5, {"i": "2"}),
    (4, {"s": "2"}), (6, {}), (6, {"return": "2"}),
)  # fmt: skip


def tools(ran=RAN, **more):
    asked = []

    async def run(attempt, selectors, watch):
        asked.append((attempt, tuple(selectors), tuple(watch)))
        record = {
            "kind": "watch",
            "id": CASE,
            "files": ["m.py"],
            "hits": [],
            "steps": [[0, step.line, step.call, step.values] for step in ran],
        }
        return replace(Execution(records=(record,) if ran else (), seconds=0.5), **more)

    return SimpleNamespace(run=run, rng=random.Random(0), asked=asked)


# -- what is told -----------------------------------------------------------------------------------------------


async def test_the_blocks_of_one_failing_case_with_values_before_and_after():
    found = tools()
    note = await runtime_trace.describe(problem(), [attempt()], found)
    assert note.text.startswith(
        "[BLOCK-1]\n# before: items=[1, 2]\ns = 0\nt = 1\n# after: s=0, t=1\n".replace("# before: items=[1, 2]\n", "")
    )
    assert "[BLOCK-2]\n# before: items=[1, 2]\nfor i in items:\n# after: i=1\n" in note.text
    assert "return s\n# after: return 2\n" in note.text
    assert note.text.endswith("`assert total([1, 2]) == 3` fails: the output was 2.")
    assert note.usage.test_seconds == 0.5
    assert found.asked[0][1:] == ((CASE,), (WatchedLines(path="m.py", start=1, end=6),))


async def test_at_most_ten_blocks_the_first_and_the_last_five():
    loop = [pair for n in range(50) for pair in ((4, {"s": str(n)}), (5, {"i": str(n + 1)}))]
    ran = steps((2, {"items": "[...]"}), *loop, (6, {}), (6, {"return": "9"}))
    note = await runtime_trace.describe(problem(), [attempt()], tools(ran))
    assert [row for row in note.text.split("\n") if row.startswith("[BLOCK-")] == [
        f"[BLOCK-{n}]" for n in (1, 2, 3, 4, 5, 98, 99, 100, 101, 102)
    ]
    assert "... 92 blocks left out ..." in note.text
    assert len(note.text) < 2000


async def test_values_and_code_are_cut():
    rows = "".join(f"    v{n} = {'1' * 500}\n" for n in range(100))
    code = f"def total(items):\n{rows}    return v1\n"
    ran = steps((2, {"items": "[1, 2]" * 99}), (102, {f"v{n}": "1" * 500 for n in range(100)}), (102, {"return": "1"}))
    note = await runtime_trace.describe(problem(code), [attempt()], tools(ran))
    assert len(note.text) < 2500
    assert "return 1" in note.text


@pytest.mark.parametrize("more", [{"ran": ()}, {"broken": "no wall"}, {"ran": (), "killed": "timeout"}])
async def test_without_a_trace_the_assertion_and_the_output(more):
    note = await runtime_trace.describe(problem(), [attempt()], tools(**more))
    assert note.text == "`assert total([1, 2]) == 3` fails: the output was 2."
    assert "traced" not in note.fields


async def test_code_that_was_not_run_is_not_run_again():
    found = tools()
    refused = attempt(
        verdict=Verdict(status=Status.REFUSED), finding=Finding(error_class="SyntaxError", message="invalid syntax")
    )
    note = await runtime_trace.describe(problem(), [refused], found)
    assert "SyntaxError" in note.text
    assert not found.asked


async def test_the_same_attempts_give_the_same_case():
    cases = tuple(CaseResult(id=f"t.py::t{n}", outcome="failed", failure=FAILURE) for n in range(20))
    many = attempt(verdict=Verdict(status=Status.FAILED, cases=cases))
    chosen = []
    for _ in range(2):
        found = tools(())
        await runtime_trace.describe(problem(), [many], found)
        chosen.append(found.asked[0][1])
    assert chosen[0] == chosen[1]


async def test_a_candidate_is_watched_where_it_lies_now():
    found = tools(())
    candidate = Candidate(texts={REGION: CODE}, imports=("import os",), helpers=("def help_(x):\n    return x\n",))
    await runtime_trace.describe(problem(), [attempt(candidate=candidate)], found)
    (_attempt, _selectors, watch) = found.asked[0]
    assert len(watch) == 2
    assert all(lines.start > 1 for lines in watch)


def test_an_example_is_run_with_those_before_it():
    case = Case(id="m.py::total::doctest-2", path="m.py", line=3, provenance=Provenance.DOCTEST)
    spec = Spec(cases=(case,), selectors=("doctest:m.py::total", "test_m.py::test_it"))
    found = replace(problem(), spec=spec)
    assert runtime_trace.selectors(found, case.id) == ("doctest:m.py::total",)
    assert runtime_trace.selectors(found, "test_m.py::test_it") == ("test_m.py::test_it",)


# -- LDB --------------------------------------------------------------------------------------------------------


def debugging(answer: str):
    found = tools()
    found.questions = []

    async def ask(completion):
        found.questions.append(completion)
        return Reply(text=answer, usage=Usage(completion_tokens=9), model="critic")

    found.ask = ask
    return found


ANSWER = (
    'Sure:\n{"block": 1, "correct": true, "explanation": "fine"}\n{"block": "BLOCK-3", "correct": false, '
    '"explanation": "must add i to s"}\n{"block": 4, "correct": "no"}\n{broken}\n{"block": 5,'
)


async def test_one_question_for_all_blocks_and_what_is_wrong_is_told():
    found = debugging(ANSWER)
    candidate = Candidate(texts={REGION: CODE})
    note = await ldb.describe(problem(), [attempt(candidate=candidate)], found)
    assert len(found.questions) == 1
    assert "[BLOCK-1]" in found.questions[0].messages[0].content
    assert note.text.endswith("the output was 2.\n[BLOCK-3] is wrong: must add i to s")
    assert note.fields["blocks"] == {1: "", 3: "must add i to s"}
    assert (note.usage.completion_tokens, note.usage.test_seconds) == (9, 0.5)


@pytest.mark.parametrize("answer", ["", "all fine", "{" * 100_000, '{"block": [1], "correct": null}', "[1]"])
async def test_an_odd_verdict_leaves_the_trace_as_it_is(answer):
    candidate = Candidate(texts={REGION: CODE})
    note = await ldb.describe(problem(), [attempt(candidate=candidate)], debugging(answer))
    assert note.text.endswith("the output was 2.")


async def test_nobody_is_asked_about_the_users_own_code_or_without_a_trace():
    found = debugging(ANSWER)
    await ldb.describe(problem(), [attempt(number=0)], found)
    found.run = tools(()).run
    note = await ldb.describe(problem(), [attempt(candidate=Candidate(texts={REGION: CODE}))], found)
    assert found.questions == []
    assert note.text == "`assert total([1, 2]) == 3` fails: the output was 2."
