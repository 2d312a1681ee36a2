"""Generated tests are listed once, and afterwards only those that changed."""

from __future__ import annotations

from dataclasses import replace

from greenloop.core.events import Specified
from greenloop.core.records.spec import Case, Provenance, Spec
from greenloop.wording.generated_tests import ChangedTests, SpecRow, list_item
from greenloop.wording.markup import without_markup

VOTES = Case(id="t.py::a", path="t.py", line=1, provenance=Provenance.DESIGNED, source="assert f(1) == 2")
HOLDS = replace(VOTES, id="t.py::b", source="assert f(0) == 0", provenance=Provenance.CONFIRMED)


def test_only_changes_are_listed_again():
    tests = ChangedTests()
    spec = Spec(cases=(VOTES, HOLDS), selectors=(), doubts=("what is f(2)?",))
    assert [*tests.lines(Specified(spec=spec))] == [
        "tests, fixed before the first attempt: 1 confirmed by you, 1 written by the model",
        "  = assert f(0) == 0  (confirmed by you)",
        "  ? assert f(1) == 2  (written by the model)",
        "  in doubt: what is f(2)?",
    ]
    changed = Spec(cases=(HOLDS,), selectors=(), outvoted=(VOTES,), doubts=("what is f(2)?",))
    assert [*tests.lines(Specified(spec=changed, reason="2 votes against it"))] == [
        "2 votes against it",
        "  x assert f(1) == 2  (discarded: the votes go against it)",
    ]


def test_an_item_is_struck_through_where_it_no_longer_counts():
    row = SpecRow(source="assert a | b", why="removed by you", is_discarded=True)
    assert list_item(row) == "- ~~`assert a ¦ b`~~ removed by you"
    assert without_markup(list_item(row)) == "- [assert a ¦ b] removed by you"
