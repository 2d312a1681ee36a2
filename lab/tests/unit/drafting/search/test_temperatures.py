"""Temperatures of several samples."""

from __future__ import annotations

from greenloop_lab.drafting.search._temperatures import sample_temperatures, spread_temperatures


def test_samples_are_one_greedy_and_others_at_equal_distances():
    assert spread_temperatures(1) == (0.2,)
    assert sample_temperatures(4) == (0.0, 0.2, 0.6, 1.0)
