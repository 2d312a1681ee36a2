"""Lists in a critic's answer."""

from __future__ import annotations

from greenloop.drafting.feedback._critic import list_items


def test_items_of_a_list_without_fences():
    assert list_items("```\n- a\n```", 3) == ("a",)
