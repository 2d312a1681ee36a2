"""Which functions a test speaks of."""

from __future__ import annotations

from greenloop.localize import signals
from greenloop_sandbox.report.traces import StatementTrace
from suspects import by_name, evidence


def test_words_that_test_and_function_share():
    found = by_name(signals.words(evidence(("test_m.py", 7))))
    assert found["parse_duration"] == 1.0
    assert found["split"] < found["Clock.tick"] < 1.0


def test_words_of_the_message_count():
    alone = by_name(signals.words(evidence()))
    told = by_name(signals.words(evidence(message="cannot split the partition")))
    assert alone["split"] < told["split"]


def test_only_statements_that_ran_speak_for_a_function():
    """A long function is not more suspicious for what the failing case never came to."""
    lines = StatementTrace(lines={"m.py": frozenset({3, 10, 15})})
    whole, ran = (by_name(signals.words(evidence(message="int", **traced))) for traced in ({}, {"trace": lines}))
    assert whole["parse_duration"] == ran["parse_duration"] == 1.0
    assert ran["Clock.tick"] > whole["Clock.tick"]


def test_a_statement_goes_on_until_its_brackets_are_closed():
    rows = ["a = g(\n", "    third,\n", ")\n", "b = a\n"]
    assert signals.statement_at(rows, 1) == "".join(rows[:3])
    assert signals.statement_at(rows, 4) == rows[3]
