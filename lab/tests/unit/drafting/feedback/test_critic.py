"""Numbers and names in a critic's answer."""

from __future__ import annotations

from greenloop_lab.drafting.feedback._critic import named_field, parse_number


def test_numbers_and_names_in_an_answer():
    assert [parse_number(text, 5) for text in ("4", "4/5", "80 %", "1/0", "none")] == [4, 4, 4, 0, None]
    assert named_field("a\n- *score*: 3\nb", "score") == "3"
