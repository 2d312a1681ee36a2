"""What each signal says of a small module."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.records.verdict import Failure, Frame
from greenloop.core.report import ReachedFunction, StatementTrace
from greenloop.localize.evidence import gather_evidence
from greenloop.localize.signals import calls, data, distance, size, traceback, words

MODULE = '''\
def parse_duration(text):
    """Reads hours and minutes."""
    hours, minutes = split(text)
    if not minutes:
        minutes = 0
    return int(hours) * 60 + int(minutes)


def split(text):
    return text.partition(":")[::2]


class Clock:
    def tick(self):
        self.minutes = 1
'''
TEST = """\
from m import parse_duration


def test_hours_without_minutes():
    clock = 1
    tick = 2
    assert parse_duration(
        "2"
    ) == 120
"""
TEXTS = {"m.py": MODULE, "test_m.py": TEST}
LINES = {"parse_duration": 1, "split": 9, "tick": 14}


def hits(*names: str) -> list[ReachedFunction]:
    return [
        ReachedFunction(path="m.py", firstlineno=LINES[name], name=name, depth=depth)
        for depth, name in enumerate(names, start=1)
    ]


def evidence(*frames: tuple[str, int], message: str = "", **statements: StatementTrace):
    failure = Failure(
        type="AssertionError",
        message=message,
        frames=tuple(Frame(path=path, line=line, function="f") for path, line in frames),
    )
    reached = {"test_m.py::test_hours_without_minutes": hits("parse_duration", "split", "tick")}
    found = gather_evidence(reached, {"test_m.py::test_hours_without_minutes": failure}, (), TEXTS.get)
    return replace(found, statements={case: trace for trace in statements.values() for case in reached})


def by_name(scores) -> dict[str, float]:
    return {region.qualname: score for region, score in scores.items()}


def test_who_raised_is_most_suspicious_then_who_called_it():
    found = by_name(traceback.scores(evidence(("test_m.py", 7), ("m.py", 3), ("m.py", 10))))
    assert found == {"split": 1.0, "parse_duration": 0.5}


def test_what_the_test_calls_is_nearest():
    found = by_name(distance.scores(evidence()))
    assert found == {"parse_duration": 1.0, "split": 0.5, "Clock.tick": pytest.approx(1 / 3)}


def test_names_in_the_failing_statement_and_in_the_test():
    assert by_name(calls.scores(evidence(("test_m.py", 7)))) == {
        "parse_duration": 1.0,
        "split": 0.0,
        "Clock.tick": calls.IN_TEST,
    }
    assert set(calls.scores(evidence(("gone.py", 7))).values()) == {0.0}


def test_words_that_test_and_function_share():
    found = by_name(words.scores(evidence(("test_m.py", 7))))
    assert found["parse_duration"] == 1.0
    assert found["split"] < found["Clock.tick"] < 1.0


def test_words_of_the_message_count():
    alone = by_name(words.scores(evidence()))
    told = by_name(words.scores(evidence(message="cannot split the partition")))
    assert alone["split"] < told["split"]


def test_more_lines_that_ran_are_more_suspicious():
    ran = StatementTrace(lines={"m.py": frozenset({3, 4, 6, 10})})
    found = by_name(size.scores(evidence(trace=ran)))
    assert found["parse_duration"] > found["split"] == 0.0
    assert by_name(size.scores(evidence()))["parse_duration"] > by_name(size.scores(evidence()))["split"]


def test_who_produced_the_value():
    produced = {("m.py", 1): 1.0, ("m.py", 9): 0.36, ("gone.py", 1): 1.0}
    found = by_name(data.scores(evidence(trace=StatementTrace(lines={}, produced=produced))))
    assert found == {"parse_duration": 1.0, "split": 0.36}
