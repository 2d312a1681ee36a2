"""Search strategies by made-up attempts: what they try next, and when they stop."""

from __future__ import annotations

from greenloop.drafting.search import chain
from search_run import Run

# -- chains -----------------------------------------------------------------------------------------------------


def test_the_published_chain_refines_the_newest_whatever_it_scored():
    run = Run(chain.plan).ends(0.8).ends(0.3).ends(0.3).ends(0.3)
    assert run.parents == [0, 1, 2, 3]
    assert run.next() is not None
