"""What traced runs say of the functions that a failing test reaches."""

from __future__ import annotations

from greenloop.localize.evidence import Reached, gather_evidence
from greenloop_sandbox import Failure, Frame
from greenloop_sandbox.report.traces import ReachedFunction

TEXT = "def outer():\n    def inner():\n        return 1\n    return inner()\n\n\ndef twice():\n    return 1\n\n\ndef twice():\n    return 2\n"


def hit(line: int, depth: int = 1, path: str = "m.py") -> ReachedFunction:
    return ReachedFunction(path=path, firstlineno=line, name="f", depth=depth)


def gather(reached, failing=("bad",), passing=(), failure=None):
    return gather_evidence(reached, dict.fromkeys(failing, failure), passing, {"m.py": TEXT}.get)


def test_the_least_depth_of_all_failing_cases_counts():
    found = gather({"bad": [hit(7, 3)], "worse": [hit(1), hit(7, 2)]}, ("bad", "worse"))
    assert {region.start: entry for region, entry in found.suspects.items()} == {
        7: Reached(depth=2, order=1),
        1: Reached(depth=1, order=0),
    }


def test_a_nested_function_belongs_to_the_one_around_it():
    found = gather({"bad": [hit(1), hit(2, 2)]})
    assert [region.qualname for region in found.suspects] == ["outer"]
    assert found.region_of("m.py", 3).qualname == "outer"


def test_functions_of_one_name_are_two_suspects():
    found = gather({"bad": [hit(7), hit(11)]})
    assert [region.start for region in found.suspects] == [7, 11]
    assert found.region_of("m.py", 12).start == 11
    assert found.region_of("m.py", 5) is None


def test_a_traceback_alone_makes_suspects():
    frames = (Frame(path="m.py", line=4, function="outer"), Frame(path="m.py", line=8, function="twice"))
    found = gather({}, failure=Failure(type="KeyError", message="", frames=frames))
    assert {region.start: position for region, position in found.frames.items()} == {7: 0, 1: 1}
    assert set(found.suspects) == set(found.frames)


def test_what_only_passing_cases_enter_is_no_suspect():
    found = gather({"bad": [hit(1)], "good": [hit(1), hit(7)]}, passing=("good",))
    assert [region.start for region in found.suspects] == [1]
    assert {region.start for region in found.entered["good"]} == {1, 7}
