"""A model alone puts answers together."""

from __future__ import annotations

from greenloop_lab.drafting.search import merge_question
from merge_run import steps_after_samples


def test_it_only_asks():
    assert steps_after_samples(merge_question.plan) == (False, "merge")
