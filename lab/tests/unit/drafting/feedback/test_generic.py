"""The ablation: a fixed sentence."""

from __future__ import annotations

from critique import BASELINE, FAILING, PROBLEM, attempt
from greenloop.drafting.feedback import cases
from greenloop_lab.drafting.feedback import generic


async def test_generic_feedback_says_nothing_of_the_error_and_specific_feedback_does():
    attempts = [BASELINE, attempt()]
    note = await generic.describe(PROBLEM, attempts, None)
    assert note.text.startswith(
        "There might be an error in the code above because of lack of understanding of the question."
    )
    assert "assert" not in note.text
    assert FAILING in (await cases.describe(PROBLEM, attempts, None)).text
