"""Which functions a test speaks of."""

from __future__ import annotations

from greenloop.localize.signals import words
from suspects import by_name, evidence


def test_words_that_test_and_function_share():
    found = by_name(words.scores(evidence(("test_m.py", 7))))
    assert found["parse_duration"] == 1.0
    assert found["split"] < found["Clock.tick"] < 1.0


def test_words_of_the_message_count():
    alone = by_name(words.scores(evidence()))
    told = by_name(words.scores(evidence(message="cannot split the partition")))
    assert alone["split"] < told["split"]
