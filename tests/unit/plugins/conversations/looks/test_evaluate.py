"""Evaluating an expression where the failing test stopped."""

from __future__ import annotations

import pytest

from greenloop.plugins.conversations.looks import evaluate
from greenloop.plugins.conversations.looks._project import LookError
from greenloop_sandbox import Execution, Inspection
from look_project import look_project


def inspected(*values):
    record = {"kind": "inspection", "id": "t.py::test_a", "chain": [], "values": list(values), "sections": []}
    return Execution(records=(record,), status=1)


async def look(tmp_path, result=None, failing=("t.py::test_a",), **arguments):
    project, asked = look_project(tmp_path, {"t.py": ""}, execution=result, failing=failing)
    return await evaluate.look(arguments, project), asked


async def test_the_value_in_the_first_failing_test(tmp_path):
    text, asked = await look(tmp_path, inspected(["a + 1", "2"]), expression=" a + 1 ", frame=None)
    assert text == "a + 1 = 2"
    assert asked == [(["t.py::test_a"], Inspection(expressions=("a + 1",), frame=""))]


async def test_another_test_and_frame(tmp_path):
    text, asked = await look(tmp_path, inspected(["", "no frame"]), expression="a", frame="m.py:3", test="t.py::test_b")
    assert text == "no frame"
    assert asked == [(["t.py::test_b"], Inspection(expressions=("a",), frame="m.py:3"))]


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("a = 1", "not one expression"),
        ("import os", "not one expression"),
        ("a\0", "not one expression"),
        ("(" * 1500 + ")" * 400, "not one expression"),
        ("+".join(["1"] * 1500), "`expression` may have 2000 characters."),
        ("", "`expression` is missing."),
    ],
)
async def test_what_is_no_expression(tmp_path, expression, sentence):
    with pytest.raises(LookError) as caught:
        await look(tmp_path, expression=expression)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (Execution(killed="timeout"), "There is no value: it did not finish in time."),
        (Execution(killed="output"), "There is no value: it produced too much output."),
        (Execution(status=3), "There is no value: the process exited with status 3 before pytest finished."),
        (Execution(broken="there is no disk"), "there is no disk"),
        (Execution(records=({"kind": "finished"},), status=0), "t.py::test_a does not fail: there is no frame."),
    ],
)
async def test_a_run_without_a_frame_says_why(tmp_path, result, sentence):
    with pytest.raises(LookError) as caught:
        await look(tmp_path, result, expression="a")
    assert str(caught.value) == sentence


async def test_without_a_failing_test_there_is_no_frame(tmp_path):
    with pytest.raises(LookError, match="No test fails"):
        await look(tmp_path, failing=(), expression="a")
