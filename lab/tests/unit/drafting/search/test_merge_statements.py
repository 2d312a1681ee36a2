"""Answers are put together without a model alone."""

from __future__ import annotations

from greenloop_lab.drafting.search import merge_statements
from merge_run import steps_after_samples


def test_it_only_merges():
    assert steps_after_samples(merge_statements.plan) == (True, "")
