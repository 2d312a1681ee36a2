"""The runner's own words."""

from __future__ import annotations

from failed_assertion import FAILURE, PROBLEM, failed_attempt
from greenloop.drafting.feedback import raw
from greenloop_sandbox import Failure


async def test_raw_has_the_runners_own_words():
    note = await raw.describe(PROBLEM, [failed_attempt(FAILURE)], None)
    assert FAILURE.text in note.text


async def test_raw_keeps_the_last_frames_with_exception_and_line():
    rows = [f"m.py:{n}: in f" for n in range(500)]
    text = "\n".join([*rows, ">       return table[key]", "E       KeyError: 'a'", "", "m.py:77: KeyError"])
    note = await raw.describe(PROBLEM, [failed_attempt(Failure(type="KeyError", message="'a'", text=text))], None)
    assert note.text.endswith("m.py:499: in f\n>       return table[key]\nE       KeyError: 'a'\n\nm.py:77: KeyError")
    assert "m.py:1: in f\n" not in note.text
    assert note.text.count("\n") == 40


async def test_many_raw_failures_are_bounded():
    note = await raw.describe(
        PROBLEM, [failed_attempt(*[Failure(type="E", message="", text="x" * 10_000)] * 500)], None
    )
    assert note.text.endswith("and 480 more failing tests.")
    assert len(note.text) < 130_000
