"""A skeleton whose questions do not show what is filled."""

from __future__ import annotations

from filling_problem import failed
from greenloop_lab.drafting.search import skeleton_forgetful

from .test_skeleton import play


def test_without_what_is_filled():
    drafts = play(skeleton_forgetful.plan, [failed(3, "Stack.push"), failed(4, "Stack.pop")])
    assert [(each.parent, each.prompt) for each in drafts] == [(0, ""), (1, "")]
