"""Code from a plan, refinements that keep to it, and the next plan where one is stuck."""

from __future__ import annotations

from greenloop.core.records.attempt import Move
from greenloop_lab.drafting.search import planned
from search_run import PROBLEM, Run

TWO = ["1. add", "1. multiply"]


def told(draft) -> tuple:
    return draft.move, draft.parent, draft.hint, draft.prompt


def test_a_draft_from_the_plan_and_refinements_that_keep_to_it():
    run = Run(planned.plan, plans=("1. add",))
    draft = run.next()
    assert (told(draft), draft.label) == ((Move.DRAFT, 0, "1. add", "planned"), "")
    assert told(run.ends(0.5).next()) == (Move.REFINE, 1, "1. add", "refine_planned")
    assert told(run.ends(0.3).next()) == (Move.REFINE, 1, "1. add", "refine_planned")


def test_a_stuck_plan_gives_way_to_the_next():
    run = Run(planned.plan, plans=TWO)
    assert run.next().label == "plan 1"
    draft = run.ends(0.9, "same").ends(0.9, "same").next()
    assert (told(draft), draft.label) == ((Move.DRAFT, 0, "1. multiply", "planned"), "plan 2")
    # The code of the plan that was given up is not refined again, although it was better.
    assert told(run.ends(0.1).next()) == (Move.REFINE, 3, "1. multiply", "refine_planned")


def test_a_plan_has_a_bounded_number_of_refinements_as_long_as_another_waits():
    run = Run(planned.plan, plans=TWO)
    for number in range(planned.REPAIRS + 1):
        run.ends(number / 10)
    assert run.next().hint == "1. multiply"


def test_when_all_plans_were_tried_a_restart_has_none_and_the_search_ends():
    run = Run(planned.plan, plans=("1. add",)).ends(0.5, "same").ends(0.5, "same")
    assert told(run.next()) == (Move.RESTART, 0, "", "")
    for _ in range(20):
        if run.next() is None:
            break
        run.ends(0.5, "same")
    assert run.next() is None


def test_without_plans_it_drafts_refines_and_restarts():
    run = Run(planned.plan)
    assert told(run.next()) == (Move.DRAFT, 0, "", "")
    assert told(run.ends(0.5, "same").next()) == (Move.REFINE, 1, "", "")
    assert told(run.ends(0.5, "same").next()) == (Move.RESTART, 0, "", "")


def test_plans_that_the_history_kept_and_a_field_of_another_kind():
    assert planned.list_plans(Run(planned.plan, plans=["a", "b"]).attempts) == ["a", "b"]
    assert planned.list_plans(Run(planned.plan, plans="a").attempts) == []
    assert planned.plan(PROBLEM, Run(planned.plan, plans=7).attempts)[0].prompt == ""
