"""Which functions a test names."""

from __future__ import annotations

from greenloop.localize.signals import calls
from suspects import by_name, evidence


def test_names_in_the_failing_statement_and_in_the_test():
    assert by_name(calls.scores(evidence(("test_m.py", 7)))) == {
        "parse_duration": 1.0,
        "split": 0.0,
        "Clock.tick": calls.IN_TEST,
    }
    assert set(calls.scores(evidence(("gone.py", 7))).values()) == {0.0}
