"""How much of a function ran."""

from __future__ import annotations

from greenloop.localize.signals import size
from greenloop_sandbox.report.traces import StatementTrace
from suspects import by_name, evidence


def test_more_lines_that_ran_are_more_suspicious():
    ran = StatementTrace(lines={"m.py": frozenset({3, 4, 6, 10})})
    found = by_name(size.scores(evidence(trace=ran)))
    assert found["parse_duration"] > found["split"] == 0.0
    assert by_name(size.scores(evidence()))["parse_duration"] > by_name(size.scores(evidence()))["split"]
