"""The best of the samples is repaired first, then the next best; each once."""

from __future__ import annotations

from greenloop.core.records.attempt import Move
from greenloop_lab.drafting.search import anchor
from search_run import Run


def test_the_best_is_the_first_anchor_and_the_others_are_its_references():
    run = Run(anchor.plan).ends(0.1).ends(0.4).ends(0.3).ends(0.0)
    draft = run.next()
    assert (draft.move, draft.prompt, draft.parent) == (Move.REFINE, "anchor", 2)


def test_the_next_best_is_an_anchor_where_the_first_brought_nothing():
    run = Run(anchor.plan).ends(0.1).ends(0.4).ends(0.3).ends(0.0).ends(0.2)
    assert run.next().parent == 3


def test_what_is_better_is_the_next_anchor():
    run = Run(anchor.plan).ends(0.1).ends(0.4).ends(0.3).ends(0.0).ends(0.6)
    assert run.next().parent == 5


def test_a_single_candidate_is_refined_alone():
    run = Run(anchor.plan).ends(0.1).refused("SyntaxError").refused("SyntaxError").refused("SyntaxError")
    assert run.next().prompt == ""


def test_without_gain_anchors_end():
    run = Run(anchor.plan).ends(0.1).ends(0.4).ends(0.3).ends(0.0)
    prompts = []
    for _ in range(6):
        prompts.append(run.next().prompt)
        run.ends(0.1)
    assert prompts == ["anchor"] * anchor.PATIENCE + [""] * 2
