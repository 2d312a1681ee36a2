"""What is written down of calls: those that tests make, and those that are made with given inputs."""

from __future__ import annotations

import importlib
import json
import sys
from types import SimpleNamespace

import pytest

from greenloop.plugins.other_inputs import call_probe

CODE = """\
import functools


@functools.lru_cache
def double(n, by=2, *, plus=0):
    return n * by + plus


def fill(items):
    items.append(len(items))
    print("filled")


def count(n):
    return n if n < 1 else count(n - 1)


def endless(n):
    while n:
        pass


def by_chance(n, seen=[]):
    seen.append(n)
    return len(seen)


def half(function):
    @functools.wraps(function)
    def wrapper(n):
        return function(n) / 2

    return wrapper


@half
def halved(n):
    return n


class Box:
    def __init__(self, size):
        self.size = size

    def grow(self, by):
        self.size += by
        return self
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "probed_module.py").write_text(CODE)
    monkeypatch.delitem(sys.modules, "probed_module", raising=False)
    importlib.invalidate_caches()
    call_probe.RAN.clear()
    yield importlib.import_module("probed_module")
    sys.setprofile(None)


def recorded(*names, added=()):
    call_probe.record_functions([["probed_module", name, added, False] for name in names])
    return call_probe.RAN


def test_calls_are_recorded_with_their_defaults_once_each(module):
    lines = recorded("double", "count")
    module.double(3)
    module.double(3, plus=1)
    module.double(3)
    module.count(2)  # the calls that it makes itself are not those of a test
    assert list(map(json.loads, lines)) == [[0, [3, 2], {"plus": 0}], [0, [3, 2], {"plus": 1}], [1, [2], {}]]


def test_parameters_that_the_version_before_does_not_have_are_left_out(module):
    lines = recorded("double", added=["by", "plus"])
    module.double(3)
    assert list(map(json.loads, lines)) == [[0, [3], {}]]


def test_arguments_as_they_were_when_the_call_began(module):
    lines = recorded("fill", "Box.grow")
    module.fill([])
    module.Box(1).grow(2)
    assert json.loads(lines[0])[1] == [["list", []]]
    assert json.loads(lines[1])[1] == [["object", "probed_module", "Box", [["size", 1]]], 2]


def test_what_is_no_plain_data_is_left_out(module):
    lines = recorded("fill", "missing")
    with pytest.raises(AttributeError):
        module.fill(print)
    assert lines == []


@pytest.mark.parametrize(
    ("name", "arguments", "does"),
    [
        ("double", [3], ["returns", 6, None, ""]),
        ("double", ["a"], ["raises", "TypeError", None, ""]),
        ("fill", [["list", []]], ["returns", None, ["list", [["list", [["list", [0]]]], ["dict", []]]], "filled\n"]),
        (
            "Box.grow",
            [["object", "probed_module", "Box", [["size", 1]]], 2],
            [
                "returns",
                ["object", "probed_module", "Box", [["size", 3]]],
                ["list", [["list", [["object", "probed_module", "Box", [["size", 3]]], 2]], ["dict", []]]],
                "",
            ],
        ),
    ],
)
def test_what_a_call_did(module, name, arguments, does):
    call_probe.run_inputs([["probed_module", name, [], False]], json.dumps([[0, arguments, {}]]))
    assert [json.loads(line)[1:] for line in call_probe.RAN] == [does]


@pytest.mark.parametrize("many", [8, 30])
def test_calls_that_take_long_leave_time_for_others(module, many):
    inputs = [*([0, [n], {}] for n in range(1, many + 1)), [0, [0], {}]]
    call_probe.run_inputs([["probed_module", "endless", [], False]], json.dumps(inputs))
    assert [json.loads(line)[:3] for line in call_probe.RAN] == [[many, "returns", None]]


def test_a_wrapped_function_is_called_with_what_is_around_it(module):
    """`halved` gives half of what the function inside gives; without the wrapper both versions could be the same."""
    for is_wrapped in (False, True):
        call_probe.run_inputs([["probed_module", "halved", [], is_wrapped]], json.dumps([[0, [8], {}]]))
    assert [json.loads(line)[2] for line in call_probe.RAN] == [8, ["float", "4.000000000e+00"]]


def test_what_is_another_the_second_time_is_left_out(module):
    call_probe.run_inputs(
        [["probed_module", "by_chance", [], False], ["gone", "f", [], False]], json.dumps([[0, [1], {}], [1, [1], {}]])
    )
    assert call_probe.RAN == []


def test_a_long_result_is_its_digest(module):
    call_probe.run_inputs([["probed_module", "double", [], False]], json.dumps([[0, [10**400], {}]]))
    place, kind, digest = json.loads(call_probe.RAN[0])
    assert (place, kind, len(digest)) == (0, "returns", 64)


def test_lines_leave_as_the_message_of_a_failure(module):
    call_probe.RAN.extend(["one", "two"])
    item = SimpleNamespace()
    with pytest.raises(AssertionError):
        call_probe.tell_lines(item)
    assert item.greenloop_failure(None, None, None, None)["message"] == "one\ntwo"
