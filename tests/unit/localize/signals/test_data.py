"""Who produced the compared value."""

from __future__ import annotations

from greenloop.localize.signals import data
from greenloop_sandbox.report.traces import StatementTrace
from suspects import by_name, evidence


def test_who_produced_the_value():
    produced = {("m.py", 1): 1.0, ("m.py", 9): 0.36, ("gone.py", 1): 1.0}
    found = by_name(data.scores(evidence(trace=StatementTrace(lines={}, produced=produced))))
    assert found == {"parse_duration": 1.0, "split": 0.36}
