"""Cheap samples first, reviews after them."""

from __future__ import annotations

from greenloop.core.records.attempt import Move
from greenloop_lab.drafting.search import magicore
from search_run import PROBLEM, Run


def test_magicore_samples_first():
    first = magicore.plan(PROBLEM, Run(magicore.plan).attempts)
    assert [(draft.move, draft.temperature) for draft in first] == [
        (Move.DRAFT, 0.0),
        (Move.DRAFT, 0.2),
        (Move.DRAFT, 0.6),
        (Move.DRAFT, 1.0),
    ]


def test_magicore_refines_the_best_sample_by_its_review():
    run = Run(magicore.plan).ends(0.1).ends(0.6).ends(0.3).ends(0.2, review="the loop stops early", of=2)
    draft = run.next()
    assert (draft.parent, draft.move, draft.hint, draft.prompt) == (2, Move.REFINE, "the loop stops early", "reviewed")


def test_magicore_replaces_by_what_is_equal_or_better_only():
    run = Run(magicore.plan).ends(0.1).ends(0.6).ends(0.3).ends(0.2)
    assert run.ends(0.5).next().parent == 2
    assert run.ends(0.6).next().parent == 6


def test_magicore_uses_no_review_of_another_attempt():
    run = Run(magicore.plan).ends(0.1).ends(0.6).ends(0.3).ends(0.2, review="about the third", of=3)
    assert (run.next().parent, run.next().hint, run.next().prompt) == (2, "", "")


def test_magicore_ends_after_three_refinements_without_gain():
    run = Run(magicore.plan)
    while run.next():
        run.ends(0.2)
    assert len(run.attempts) - 1 == magicore.SAMPLES + magicore.PATIENCE
