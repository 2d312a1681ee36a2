"""Nothing is put together."""

from __future__ import annotations

from greenloop_lab.drafting.search import merge_nothing
from merge_run import steps_after_samples


def test_the_samples_alone_are_refined():
    assert steps_after_samples(merge_nothing.plan) == (False, "")
