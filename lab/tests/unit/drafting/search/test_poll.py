"""Independent answers in two rounds, none of which is refined."""

from __future__ import annotations

from greenloop.core.records.attempt import Move
from greenloop_lab.drafting.search import poll
from search_run import Run


def test_five_drafts_then_four_from_the_bare_signature_and_an_end():
    run = Run(poll.plan)
    for _ in range(9):
        run.ends(0.5)
    assert [attempt.draft.move for attempt in run.attempts[1:]] == [Move.DRAFT] * 5 + [Move.RESTART] * 4
    assert set(run.parents) == {0}
    assert run.next() is None
