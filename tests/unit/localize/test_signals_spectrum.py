"""How much failing cases speak against a line, and against a function."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest

from greenloop.localize.evidence import gather_evidence
from greenloop.localize.signals import line_scores, ochiai, spectrum
from greenloop_sandbox.report.traces import ReachedFunction, StatementTrace

TEXT = "def big(x):\n    y = 1\n    if x:\n        y = 2\n    return y\n\n\ndef small(x):\n    return x\n"


def ran(*lines: int) -> dict[str, frozenset[int]]:
    return {"m.py": frozenset(lines)}


def trace(*lines: int) -> StatementTrace:
    return StatementTrace(lines=ran(*lines))


def evidence():
    hits = [ReachedFunction(path="m.py", firstlineno=line, name="f", depth=1) for line in (1, 8)]
    return gather_evidence({"bad": hits, "good": hits}, {"bad": None}, ["good"], {"m.py": TEXT}.get)


def test_lines_of_failing_cases_alone_are_most_suspicious():
    found = line_scores({"bad": ran(1, 2, 4), "good": ran(1, 3)}, ["bad"], ["good"])
    assert found == {"m.py": {1: pytest.approx(1 / sqrt(2)), 2: 1.0, 4: 1.0}}


def test_every_failing_case_counts():
    found = line_scores({"a": ran(1, 2), "b": ran(1)}, ["a", "b"], [])
    assert found == {"m.py": {1: 1.0, 2: pytest.approx(1 / sqrt(2))}}


def test_cases_that_told_nothing_do_not_count():
    assert line_scores({"a": ran(1)}, ["a", "gone"], ["late"]) == {"m.py": {1: 1.0}}
    assert line_scores({"good": ran(1)}, ["gone"], ["good"]) == {}


def test_a_function_is_as_suspicious_as_its_worst_line():
    traces = {"bad": trace(2, 3, 4, 5, 9), "good": trace(2, 3, 5, 9)}
    found = spectrum(replace(evidence(), statements=traces))
    assert {region.qualname: score for region, score in found.items()} == {
        "big": 1.0,
        "small": pytest.approx(1 / sqrt(2)),
    }


def test_without_statements_calls_count():
    assert [*spectrum(evidence()).values()] == [1.0] * 2


def test_the_most_suspicious_function_counts_fully_however_many_cases_run_it():
    traces = {"bad": trace(2, 4, 9), **{f"good{n}": trace(2, 9) for n in range(8)}, "rare": trace(4)}
    entered = dict.fromkeys(traces, ())
    found = spectrum(replace(evidence(), entered=entered, passing=[*traces][1:], statements=traces))
    assert {region.qualname: score for region, score in found.items()} == {
        "big": 1.0,
        "small": pytest.approx(sqrt(2) / 3),
    }


def test_the_coefficient_of_a_line():
    assert ochiai(0, 3, 2) == 0.0
    assert ochiai(2, 0, 2) == 1.0
    assert ochiai(2, 1, 2) > ochiai(2, 4, 2) > 0.0
    assert ochiai(2, 1, 2) > ochiai(1, 1, 2)
    assert ochiai(1, 3, 1) == 0.5
