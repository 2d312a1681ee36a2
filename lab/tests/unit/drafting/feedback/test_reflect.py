"""Reflections stay."""

from __future__ import annotations

from dataclasses import replace

from critic import Critic
from critique import BASELINE, PROBLEM, attempt
from greenloop.core.records.attempt import FeedbackNote
from greenloop_lab.drafting.feedback import reflect


async def test_reflections_are_kept_from_attempt_to_attempt():
    critic = Critic("I forgot to double.", "I doubled the wrong name.")
    first = attempt(1)
    first = replace(first, notes=(await reflect.describe(PROBLEM, [BASELINE, first], critic.tools),))
    note = await reflect.describe(PROBLEM, [BASELINE, first, attempt(2)], critic.tools)
    assert note.text.endswith("- I forgot to double.\n- I doubled the wrong name.")
    assert note.fields["reflection"] == "I doubled the wrong name."


async def test_only_the_newest_reflections_are_shown():
    old = [attempt(n, notes=(FeedbackNote(text="", fields={"reflection": f"number {n}"}),)) for n in range(1, 9)]
    note = await reflect.describe(PROBLEM, [BASELINE, *old, attempt(9)], Critic("newest").tools)
    assert [row for row in note.text.split("\n") if row.startswith("- ")] == ["- number 7", "- number 8", "- newest"]
