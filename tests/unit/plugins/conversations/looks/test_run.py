"""Running tests for a model: what passed, what failed and how, in bounded text."""

from __future__ import annotations

import pytest

from greenloop.plugins.conversations.looks import run
from greenloop.plugins.conversations.looks._project import LookError
from greenloop_sandbox import Execution
from look_project import look_project


def execution(outcomes, **end):
    """The run of cases of `t.py` with these outcomes by name."""
    cases = [{"id": f"t.py::{name}", "path": "t.py", "line": 1} for name in outcomes]
    records = [{"kind": "collected", "cases": cases}]
    for name, outcome in outcomes.items():
        phases = ("setup", "call", "teardown") if outcome == "passed" else ("setup", "call")
        for when in phases:
            failed = when == "call" and outcome != "passed"
            words = {"type": "ValueError", "message": f"no {name}"} if failed else {}
            records.append(
                {
                    "kind": "phase",
                    "id": f"t.py::{name}",
                    "when": when,
                    "outcome": "failed" if failed else "passed",
                    **words,
                }
            )
        if outcome != "passed":
            frame = ["m.py", 3, "f", "raise ValueError", [["x", "1"]]]
            link = {"type": "ValueError", "message": f"no {name}", "led": "", "frames": [frame]}
            records.append(
                {
                    "kind": "inspection",
                    "id": f"t.py::{name}",
                    "when": "call",
                    "chain": [link],
                    "values": [],
                    "sections": [],
                }
            )
    return Execution(records=(*records, {"kind": "finished"}), status=0, **end)


async def look(tmp_path, tests, result=None):
    project, asked = look_project(tmp_path, {"t.py": "", "sub/t2.py": ""}, execution=result)
    return await run.look({"tests": tests}, project), asked


async def test_failures_are_named_and_the_first_ones_shown(tmp_path):
    outcomes = {"test_a": "passed", **{f"test_{number}": "failed" for number in range(40)}}
    text, asked = await look(tmp_path, ["t.py", "sub/t2.py::test_x"], execution(outcomes))
    assert asked[0][0] == ["t.py", "sub/t2.py::test_x"]
    assert text.startswith("1 passed, 40 failed of 41.\nt.py::test_0: ValueError: no test_0\n")
    assert text.count(": ValueError: no test_") == run.MOST_CASES
    assert text.count("x = 1") == run.MOST_FAILURES


async def test_one_id_may_be_a_text(tmp_path):
    text, _asked = await look(tmp_path, "t.py", execution({"test_a": "passed"}))
    assert text == "1 passed, 0 failed of 1."


@pytest.mark.parametrize(
    ("tests", "sentence"),
    [
        (None, "`tests` must be a list of test ids."),
        ([], "`tests` must be a list of test ids."),
        ([1], "`tests` must be a list of test ids."),
        ({"a": 1}, "`tests` must be a list of test ids."),
        ([f"t.py::test_{number}" for number in range(10_000)], "At most 20 tests or files at once."),
        (["../t.py"], "outside"),
        (["none.py::test_a"], "There is no file `none.py`."),
    ],
)
async def test_what_cannot_be_run(tmp_path, tests, sentence):
    with pytest.raises(LookError) as caught:
        await look(tmp_path, tests)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (Execution(broken="there is no disk"), "there is no disk"),
        (Execution(killed="timeout"), "it did not finish in time"),
        (Execution(records=({"kind": "finished"},), status=4), "pytest collects no such test."),
        (
            Execution(records=({"kind": "collect_error", "id": "t.py", "type": "SyntaxError", "message": "no"},)),
            "t.py: SyntaxError: no",
        ),
    ],
)
async def test_a_run_without_results_says_why(tmp_path, result, sentence):
    with pytest.raises(LookError) as caught:
        await look(tmp_path, ["t.py"], result)
    assert str(caught.value) == sentence
