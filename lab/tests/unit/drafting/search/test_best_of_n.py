"""Independent samples."""

from __future__ import annotations

from greenloop.core.records.attempt import Move
from greenloop.core.records.model import Role
from greenloop_lab.drafting.search import best_of_n
from search_run import PROBLEM, Run


def test_best_of_n_spreads_four_temperatures_over_a_round():
    run = Run(best_of_n.plan)
    first = best_of_n.plan(PROBLEM, run.attempts)
    assert [draft.temperature for draft in first] == [0.0]
    run.ends(0, "same")
    round_ = best_of_n.plan(PROBLEM, run.attempts)
    assert [draft.temperature for draft in round_] == [0.6, 0.75, 0.9, 1.0]
    assert {(draft.move, draft.parent, draft.role) for draft in (*first, *round_)} == {(Move.DRAFT, 0, Role.DRAFTER)}


def test_best_of_n_never_ends_by_itself_and_never_refines():
    run = Run(best_of_n.plan)
    for _ in range(40):
        run.ends(0, "same")
    assert set(run.parents) == {0}
    assert run.temperatures[1:5] == [0.6, 0.75, 0.9, 1.0]
    assert run.next() is not None
