"""Failures described through a real wall: chains of exceptions, values of locals, expressions in a frame."""

from __future__ import annotations

import pytest

from greenloop_sandbox import Inspection, TestRun, forged
from greenloop_sandbox.report.inspections import inspected_failures

pytestmark = pytest.mark.needs("bubblewrap")

MODULE = """
class Basket:
    def __init__(self, items):
        self.items = items

    def __repr__(self):
        raise RuntimeError("never called to show a local")

    def total(self):
        prices = {name: price for name, price in self.items}
        return self.sum_of(prices)

    def sum_of(self, prices):
        try:
            return prices["total"]
        except KeyError as error:
            raise ValueError("no total in " + ", ".join(prices)) from error
"""
TESTS = """
import pytest
from m import Basket


@pytest.fixture
def basket():
    return Basket([("pen", 2), ("ink", 3)])


@pytest.fixture
def broken():
    raise OSError("no fixture")


def test_total(basket):
    print("asking")
    assert basket.total() == 5


def test_list():
    expected = list(range(60))
    assert list(range(30)) + [99] + list(range(31, 60)) == expected


def test_setup(broken):
    pass


def test_passes(basket):
    assert basket.items
"""


@pytest.fixture
def inspect(tmp_path, lay, opened):
    """`inspect(selector, *expressions, frame="")`: the inspected failures by the name of the test."""

    async def run(selector, *expressions, frame="", files=None):
        session = await opened(lay(tmp_path / "w", files or {"m.py": MODULE, "test_m.py": TESTS}))
        wanted = Inspection(expressions=expressions, frame=frame)
        execution = await session.run(TestRun(selectors=(selector,), inspect=wanted, seconds=60))
        assert (execution.broken, forged(execution)) == ("", "")
        return {case.rpartition("::")[2]: found for case, found in inspected_failures(execution).items()}

    return run


@pytest.mark.story("errors are traced for the model")
async def test_a_chain_of_exceptions_has_code_and_values(inspect):
    found = (await inspect("test_m.py::test_total"))["test_total"]
    first, last = found.chain
    assert (first.type, first.led) == ("KeyError", "cause")
    assert (last.type, last.message, last.led) == ("ValueError", "no total in pen, ink", "")
    assert [frame.place.function for frame in last.frames] == ["test_total", "Basket.total", "Basket.sum_of"]
    test, total, inner = last.frames
    assert test.code == "assert basket.total() == 5"
    assert test.values == {"basket": "Basket(items=[('pen', 2), ('ink', 3)])"}
    assert total.values["prices"] == inner.values["prices"] == "{'pen': 2, 'ink': 3}"
    assert ("Captured stdout call", "asking\n") in found.sections


async def test_a_difference_is_whole_and_a_setup_counts(inspect):
    found = await inspect("test_m.py")
    assert set(found) == {"test_total", "test_list", "test_setup"}
    assert "At index 30 diff: 99 != 30" in found["test_list"].chain[-1].message
    assert "[...]" not in found["test_list"].chain[-1].message
    assert (found["test_setup"].when, found["test_setup"].chain[-1].message) == ("setup", "no fixture")


async def test_expressions_are_evaluated_in_the_frame_that_is_asked_for(inspect):
    asked = ("len(prices)", "[name for name in prices if name in prices]", "absent", "self.items")
    found = (await inspect("test_m.py::test_total", *asked))["test_total"]
    assert dict(found.values) == {
        "len(prices)": "2",
        "[name for name in prices if name in prices]": "['pen', 'ink']",
        "absent": "NameError: name 'absent' is not defined",
        "self.items": "[('pen', 2), ('ink', 3)]",
    }
    found = (await inspect("test_m.py::test_total", "basket.items[0]", frame="test_total"))["test_total"]
    assert dict(found.values) == {"basket.items[0]": "('pen', 2)"}
    found = (await inspect("test_m.py::test_total", "1", frame="m.py:11"))["test_total"]
    assert dict(found.values) == {"1": "1"}
    found = (await inspect("test_m.py::test_total", "1", frame="nowhere"))["test_total"]
    assert found.values == (("", "There is no frame nowhere in the traceback."),)


async def test_texts_are_the_same_in_every_run(inspect):
    files = {
        "m.py": "class A:\n    pass\n",
        "test_m.py": "from m import A\n\ndef test_it():\n    a = A()\n    assert [a] == 1\n",
    }
    found = [await inspect("test_m.py", "a", "object()", files=files) for _ in range(2)]
    assert found[0] == found[1]
    assert "0x" not in str(found[0])


async def test_hostile_values_do_no_harm(inspect):
    test = (
        "class Evil:\n    def __repr__(self):\n        raise RuntimeError(3)\n"
        "    def __getattr__(self, name):\n        raise RuntimeError(4)\n\n"
        "def deep(n):\n    return deep(n + 1)\n\n"
        "def test_evil():\n    evil, big = Evil(), 'x' * 10**6\n    assert not evil, 'said'\n\n"
        "def test_deep():\n    deep(0)\n"
    )
    found = await inspect("test_e.py", "evil", "big", "1/0", "exit(3)", files={"test_e.py": test})
    values = dict(found["test_evil"].values)
    assert values["1/0"] == "ZeroDivisionError: division by zero"
    assert values["exit(3)"] == "SystemExit: 3"
    assert len(values["big"]) < 5000
    assert found["test_evil"].chain[-1].frames[-1].values["evil"] == "<Evil>"
    assert found["test_deep"].chain[-1].type == "RecursionError"
    assert len(found["test_deep"].chain[-1].frames) <= 30


async def test_of_a_test_case_only_what_the_test_set_is_shown(inspect):
    tests = (
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.limit = 2\n\n"
        "    def test_it(self):\n        count = 1\n        self.assertEqual(count, self.limit)\n"
    )
    found = await inspect("test_m.py::T::test_it", files={"test_m.py": tests})
    (frame, *_library) = found["test_it"].chain[-1].frames
    assert dict(frame.values) == {"self.limit": "2", "count": "1"}
