"""A module, its failing test, and what signals are told of them."""

from __future__ import annotations

from dataclasses import replace

from greenloop.localize.evidence import gather_evidence
from greenloop_sandbox import Failure, Frame
from greenloop_sandbox.report.traces import ReachedFunction, StatementTrace

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
