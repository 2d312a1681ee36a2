"""Cases that vote, and ballots of candidates."""

from __future__ import annotations

from greenloop.core.records.spec import Case, Provenance
from greenloop.plugins.written_tests.polls import Ballot


def make_case(name: str, batch: str = "", provenance: Provenance = Provenance.DESIGNED) -> Case:
    return Case(id=name, path="m.py", line=1, provenance=provenance, source=f"assert f({name!r}) == 1", batch=batch)


def make_ballot(attempt: int, passed: str, *, weight: int = 1, seen: dict | None = None, size: int = 0) -> Ballot:
    return Ballot(attempt=attempt, passed=frozenset(passed), weight=weight, observed=seen or {}, size=size)
