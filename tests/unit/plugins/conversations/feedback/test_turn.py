"""What a capable model hears of its edits: the new failure alone, what broke, what is still red, what to clean up."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from attempts import attempt, baseline, verdict
from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.attempt import FeedbackNote, Finding
from greenloop.core.records.verdict import Status
from greenloop.core.summary import CANNOT
from greenloop.plugins.conversations.feedback import turn
from greenloop.plugins.conversations.feedback.turn import IN_TURNS, KEPT, TAKEN_BACK, describe
from greenloop_sandbox import CaseResult, Execution
from search_run import PROBLEM

SIBLING = replace(PROBLEM, siblings=("t.py::sibling",))


async def hear(newest, *, before=(), problem=PROBLEM, error_class=""):
    """The note, and the ids of the tests that were run for it."""
    asked = []

    async def run(_attempt, selectors, watch=(), *, inspect=None):
        assert inspect is not None
        asked.extend(selectors)
        frame = ["m.py", 3, "f", "return x", [["x", "1"]]]
        records = [
            {
                "kind": "inspection",
                "id": each,
                "when": "call",
                "chain": [{"type": "ValueError", "message": f"no {each}", "led": "", "frames": [frame]}],
                "values": [],
                "sections": [],
            }
            for each in selectors
        ]
        return Execution(records=tuple(records))

    tools = Tools(ask=None, run=run, session=None, user=NoUser(), rng=random.Random(0))
    note = await describe(problem, [replace(baseline(), error_class=error_class), *before, newest], tools)
    return note, asked


async def test_what_still_fails_is_shown_as_it_fails_now():
    note, asked = await hear(attempt(1, passed=0, verdict=verdict(1, 4)))
    assert asked == ["t.py::1", "t.py::2"]
    assert note.text.startswith("Still failing. 1 of 4 pass.\n```text\nt.py::1: AssertionError: assert 1 == 2\n")
    assert "`t.py::1`:\n```text\nm.py:3 in f\n    return x\n      x = 1\nValueError: no t.py::1\n```" in note.text
    assert note.text.endswith(KEPT)


async def test_a_single_failure_is_not_named_twice():
    note, _asked = await hear(attempt(1, verdict=verdict(0, 1)))
    assert "AssertionError" not in note.text
    assert note.text.endswith(TAKEN_BACK)


async def test_the_same_failure_is_not_shown_again():
    note, asked = await hear(attempt(1), error_class="AssertionError")
    assert note.text == f"It fails exactly as before. 0 of 2 pass.\n\n{TAKEN_BACK}"
    other = verdict(0, cases=(CaseResult(id="t.py::0", outcome="failed"),))
    earlier = attempt(1, verdict=other, error_class="Failed")
    note, _asked = await hear(attempt(2, verdict=other, error_class="Failed"), before=[earlier])
    assert note.text.startswith("It fails exactly as after an earlier answer.")
    assert asked == []


async def test_what_broke():
    broken = [CaseResult(id=f"t.py::other{number}", outcome="failed") for number in range(12)]
    note, asked = await hear(attempt(1, verdict=verdict(2, collateral=tuple(broken))))
    assert note.text.startswith("The target passes. These tests passed before and fail with your edits:\n")
    assert "… 2 more" in note.text
    assert len(asked) == turn.MOST_SHOWN


async def test_what_is_still_red_and_what_to_clean_up():
    passed = verdict(2, still_red=("t.py::sibling", "t.py::unrelated"))
    note, asked = await hear(attempt(1, verdict=passed, blemishes=("m.py:3: dead",)), problem=SIBLING)
    assert asked == ["t.py::sibling"]
    assert "The target passes. These are still red:" in note.text
    assert "All tests pass. Before it is merged, clean this up:\n- m.py:3: dead" in note.text
    assert note.text.endswith(KEPT)


@pytest.mark.parametrize(
    ("judged", "sentence"),
    [
        (
            verdict(2, status=Status.TAMPERED, reason="It skips the test."),
            "That was not accepted as a fix: It skips the test.",
        ),
        (
            verdict(2, status=Status.FAILED, reason="It is flaky."),
            "The target passes, but that was not accepted: It is flaky.",
        ),
        (verdict(2), "The target passes."),
        (verdict(0, status=Status.TIMEOUT, reason="It took 10 s."), "Still failing. 0 of 2 pass. It took 10 s."),
    ],
)
async def test_other_ends(judged, sentence):
    note, _asked = await hear(attempt(1, verdict=judged, refused=judged.status is Status.FAILED))
    assert note.text.startswith(sentence)


@pytest.mark.parametrize("error_class", ["NoCode", "EmptyAnswer", "WrongFunction"])
async def test_an_answer_without_edits_is_asked_for_edits(error_class):
    note, asked = await hear(attempt(1, finding=Finding(error_class=error_class, message="It holds no code.")))
    assert note.text == f"The code was not run: It holds no code. {IN_TURNS[error_class]}"
    assert asked == []


async def test_what_was_left_out_is_said_first_and_kept():
    left = FeedbackNote(text="", fields={"left_out": ["`t.py` belongs to the tests."]})
    note, _asked = await hear(attempt(1, notes=(left,)))
    assert note.text.startswith("`t.py` belongs to the tests.\n\nStill failing.")
    assert note.fields == {"left_out": ["`t.py` belongs to the tests."]}


async def test_giving_up_ends_the_search():
    note, asked = await hear(attempt(1, finding=Finding(error_class=CANNOT, message="It contradicts itself.")))
    assert (note.stop, note.text, asked) == (True, "", [])


async def test_a_run_that_describes_nothing_leaves_the_names():
    async def run(_attempt, _selectors, watch=(), *, inspect=None):
        return Execution(broken="no disk")

    tools = Tools(ask=None, run=run, session=None, user=NoUser(), rng=random.Random(0))
    note = await describe(PROBLEM, [baseline(), attempt(1, verdict=verdict(0, 1))], tools)
    assert "t.py::0: AssertionError: assert 1 == 2" in note.text
