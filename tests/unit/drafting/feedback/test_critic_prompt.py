"""Numbers and names in a critic's answer."""

from __future__ import annotations

from greenloop.drafting.feedback.published._critic_prompt import bullets, named, number


def test_numbers_and_names_in_an_answer():
    assert [number(text, 0, 5) for text in ("4", "4/5", "80 %", "1/0", "none")] == [4, 4, 4, 0, None]
    assert named("a\n- *score*: 3\nb", "score") == "3"
    assert bullets("```\n- a\n```", 3) == ("a",)
