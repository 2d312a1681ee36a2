"""Why a function is suspicious, in words: only what the evidence shows."""

from __future__ import annotations

from dataclasses import replace

from greenloop.localize.evidence import gather_evidence
from greenloop.localize.ranking import find_reasons
from greenloop.localize.regions import region_at
from greenloop_sandbox import Failure, Frame
from greenloop_sandbox.report.traces import ReachedFunction
from suspects import TEXTS

CASE, OTHER = "test_m.py::test_a", "test_m.py::test_b"


def reached(*names):
    lines = {"parse_duration": 1, "split": 9, "tick": 14}
    return [
        ReachedFunction(path="m.py", firstlineno=lines[name], name=name, depth=depth)
        for depth, name in enumerate(names, 1)
    ]


def reasons(failing=("parse_duration", "split"), passing=(), *, frames=(), **more):
    """The reasons by name, of a failing case and a passing one (none without functions)."""
    failure = Failure(type="E", message="", frames=tuple(Frame(path="m.py", line=line, function="") for line in frames))
    runs = {CASE: reached(*failing), **({OTHER: reached(*passing)} if passing else {})}
    evidence = gather_evidence(runs, {CASE: failure}, [OTHER] if passing else [], TEXTS.get)
    by_name = {region.qualname: region for region in evidence.suspects}
    more = {name: make(by_name) for name, make in more.items()}
    return {region.qualname: text for region, text in find_reasons(replace(evidence, **more)).items()}


def test_a_call_by_the_test_is_a_reason_and_others_need_more():
    assert reasons() == {"parse_duration": "called by the test itself"}


def test_the_traceback():
    found = reasons(frames=(3, 10))
    assert found["split"] == "raised the exception"
    assert found["parse_duration"] == "in the traceback; called by the test itself"


def test_what_a_failure_names():
    named = region_at("m.py", 1, TEXTS.get, None)
    evidence = gather_evidence({}, {CASE: None}, [], TEXTS.get, named=[named])
    assert find_reasons(evidence) == {named: "named by the failure"}


def test_only_failing_tests_ran_it():
    found = reasons(("parse_duration", "split"), ("parse_duration",))
    assert found["split"] == "ran only in failing tests"
    assert "only" not in found["parse_duration"]


def test_changes():
    found = reasons(touched=lambda by_name: frozenset([by_name["split"]]))
    assert found["split"] == "changed since the last commit"
    assert "split" not in reasons()
