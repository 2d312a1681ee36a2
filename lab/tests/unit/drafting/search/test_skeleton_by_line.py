"""The order of the text in place of that of the calls."""

from __future__ import annotations

from filling_problem import PROBLEM, REGIONS, failed, names
from greenloop_lab.drafting.search import skeleton, skeleton_by_line

from .test_skeleton import play


def test_in_the_order_of_the_lines():
    turned = PROBLEM.focused((REGIONS[2], *REGIONS[:2], REGIONS[3]))
    ends = [failed(3, "Stack.size")] * 4
    by_calls = [names(each.regions)[0] for each in play(skeleton.plan, ends, turned)]
    by_line = [names(each.regions)[0] for each in play(skeleton_by_line.plan, ends, turned)]
    assert by_calls == ["pop", "__init__", "push", "size"]
    assert by_line == ["__init__", "push", "pop", "size"]
