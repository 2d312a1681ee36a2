"""Failures as text: the innermost frames with their values last, and never more than there is room for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from failures import LIBRARY, failure, frame, raised
from greenloop.plugins.conversations.tracebacks import FULL, SHORT, render_failure, summarize_case
from greenloop_sandbox import CaseResult, Failure

TEST = frame("t.py", 5, "test", "assert f(1) == 2", {"x": "1"})
OWN = frame("m.py", 3, "f", "return g(x)", {"x": "1", "y": "[1, 2]"})


def test_frames_with_values_that_are_new_and_the_exception():
    assert render_failure(failure(raised(TEST, OWN))) == (
        "t.py:5 in test\n    assert f(1) == 2\n      x = 1\n"
        "m.py:3 in f\n    return g(x)\n      y = [1, 2]\n"
        "ValueError: no"
    )


def test_where_a_library_raised_is_named_and_its_other_frames_are_counted():
    inner = [frame(LIBRARY, number, "h", "raise") for number in range(3)]
    text = render_failure(failure(raised(OWN, *inner)))
    assert "  … 2 frames of libraries or further out\nlib/core.py:2 in h\n    raise\nValueError: no" in text


def test_a_chain_of_exceptions():
    first = raised(OWN, kind="KeyError", message="'a'", led="context")
    second = raised(TEST, kind="RuntimeError", message="", led="cause")
    text = render_failure(failure(first, second, raised(TEST)))
    parts = [
        "KeyError: 'a'\n\nWhile that was handled",
        "RuntimeError\n\nThat was the direct cause of:\n",
        "ValueError: no",
    ]
    assert [part in text for part in parts] == [True] * 3
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)


@pytest.mark.parametrize(("when", "head"), [("call", "t.py:5"), ("setup", "It fails in its setup.\n")])
def test_the_phase(when, head):
    assert render_failure(failure(raised(TEST), when=when)).startswith(head)


def test_what_the_test_printed():
    printed = "\n".join(map(str, range(100)))
    shown = failure(raised(TEST), sections=(("Captured stdout call", printed),))
    text = render_failure(shown)
    assert "Captured stdout call:\n0\n1\n" in text
    assert text.endswith("97\n98\n99")
    assert "Captured" not in render_failure(shown, SHORT)


def test_values_have_room_and_runs_of_one_character_are_shortened():
    values = {f"name{number}": "v" * 10 + str(number) for number in range(100)}
    shown = failure(raised(frame("m.py", 3, values=values), frame("m.py", 4, values={"x": "=" * 500})))
    text = render_failure(shown, replace(FULL, values=200))
    assert 5 < text.count("name") < 15
    assert f"x = {'=' * 10}…{'=' * 10}" in text


def test_of_many_frames_and_long_messages_the_ends_stay():
    frames = [frame("m.py", number, values={"n": str(number)}) for number in range(100)]
    message = "\n".join(f"line {number}" for number in range(500))
    for detail in (FULL, SHORT):
        text = render_failure(failure(raised(*frames, message=message)), detail)
        assert text.count("m.py:") == detail.frames
        assert "m.py:99 in f" in text
        assert f"  … {100 - detail.frames} frames of libraries or further out" in text
        assert "ValueError: line 0\n" in text
        assert text.endswith("line 499")
        assert text.count("line ") == detail.message + 0


def test_the_same_frame_twice_is_shown_twice():
    assert render_failure(failure(raised(OWN, OWN))).count("m.py:3 in f") == 2


@pytest.mark.parametrize("chain", [(), (raised(),), (raised(frame(LIBRARY, 1)),)])
def test_failures_without_frames_of_the_project(chain):
    assert isinstance(render_failure(failure(*chain)), str)


@pytest.mark.parametrize(
    ("case", "line"),
    [
        (CaseResult(id="a", outcome="missing"), "a: missing"),
        (CaseResult(id="a", outcome="failed", failure=Failure(type="KeyError", message="'x'")), "a: KeyError: 'x'"),
        (
            CaseResult(id="a", outcome="failed", failure=Failure(type="KeyError", message="\n\n 1 \n2")),
            "a: KeyError: 1",
        ),
        (CaseResult(id="a", outcome="failed", failure=Failure(type="KeyError", message="")), "a: KeyError"),
        (
            CaseResult(id="a", outcome="failed", failure=Failure(type="E", message="x" * 999)),
            f"a: E: {'x' * 159}…",
        ),
    ],
)
def test_a_case_in_a_line(case, line):
    assert summarize_case(case) == line
