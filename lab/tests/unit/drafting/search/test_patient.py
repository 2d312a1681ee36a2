"""A chain with patience."""

from __future__ import annotations

from greenloop.core.election import best_attempt
from greenloop_lab.drafting.search import patient
from search_run import Run


def test_a_chain_without_progress_stops_at_its_patience():
    run = Run(patient.plan).ends(0.5).ends(0.5).ends(0.5)
    assert run.next() is None
    assert best_attempt(run.attempts).verdict.score == 0.5


def test_a_worse_attempt_does_not_replace_a_better_one():
    run = Run(patient.plan).ends(0.8).ends(0.3)
    assert run.next().parent == 1
    assert best_attempt(run.attempts).number == 1


def test_the_best_reward_counts_and_not_the_last():
    run = Run(patient.plan).ends(0.5).ends(0.9).ends(0.2)
    assert run.next().parent == 2
    assert best_attempt(run.attempts).number == 2


def test_a_chain_goes_on_as_long_as_its_score_rises():
    run = Run(patient.plan)
    for tenth in range(9):
        run.ends(tenth / 10)
    assert run.parents == list(range(9))
    assert run.next() is not None


def test_refining_the_same_attempt_again_is_hotter():
    run = Run(patient.plan).ends(0.8).ends(0.3)
    assert (run.temperatures, run.next().temperature) == ([0.0, 0.0], 0.4)
