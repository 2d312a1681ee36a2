"""Which functions a failing case counts as reached: what ran before it failed."""

from __future__ import annotations

import pytest

from greenloop.core.reach import Reach
from greenloop_sandbox import TestRun

pytestmark = pytest.mark.needs("bubblewrap")

MODULE = """\
import contextlib


class Box:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return count(self.items)

    def __iter__(self):
        return iter(self.items)

    def __repr__(self):
        return show(self)

    def __eq__(self, other):
        return same(self, other)


def count(items):
    return len(items)


def show(box):
    return "Box(%d)" % len(box)


def same(box, other):
    return box.items == other.items


def make(items):
    return Box(items)


@contextlib.contextmanager
def opened(items):
    box = make(items)
    try:
        yield box
    finally:
        close(box)


def close(box):
    box.closed = True


def convert(text):
    try:
        return int(text)
    except ValueError as error:
        raise explain(error)


def explain(error):
    return KeyError(str(error))
"""
TESTS = """\
import unittest
import m


def test_equal():
    assert m.make([1]) == m.make([2])


def test_truth():
    assert not m.make([1])


def test_shown_before():
    assert repr(m.make([1])) == "Box(2)"


def test_with():
    with m.opened([1]) as box:
        assert box.items == [2]


def test_closed_before():
    with m.opened([1]) as box:
        pass
    assert not box.closed


def test_translated():
    m.convert("x")


def test_caught():
    try:
        m.convert("x")
    except KeyError as error:
        m.close(error)
    assert m.make([1]).items == []


class TestOld(unittest.TestCase):
    def test_unit(self):
        self.assertEqual(m.make([1]), m.make([2]))

    def test_list(self):
        with m.opened([1]) as box:
            self.assertEqual([box], [m.make([2])])
"""


@pytest.fixture
def reach(tmp_path, lay, opened):
    """`reach(case)`: the names that the case reached, and the lines around it."""

    async def run(case: str):
        root = lay(tmp_path / "w", {"m.py": MODULE, "test_m.py": TESTS})
        session = await opened(root)
        found = Reach()
        found.add(await session.run(TestRun(selectors=(f"test_m.py::{case}",), trace=True)))
        (hits,) = found.functions.values()
        (also,) = found.also.values()
        names = {hit.name.rpartition(".")[2] for hit in hits if hit.path == "m.py"}
        return names, {
            MODULE.splitlines()[line - 1].split()[1].partition("(")[0] for path, line in also if path == "m.py"
        }

    return run


@pytest.mark.parametrize(
    ("case", "before", "after"),
    [
        ("test_equal", {"make", "__init__", "__eq__", "same"}, {"__repr__", "show", "__len__", "count"}),
        ("test_truth", {"make", "__init__", "__len__", "count"}, {"__repr__", "show"}),
        ("test_shown_before", {"make", "__init__", "__repr__", "show", "__len__", "count"}, set()),
        ("test_with", {"opened", "make", "__init__"}, {"close"}),
        ("test_closed_before", {"opened", "make", "__init__", "close"}, set()),
        ("test_translated", {"convert", "explain"}, set()),
        ("test_caught", {"convert", "explain", "close", "make", "__init__"}, set()),
        ("TestOld::test_unit", {"make", "__init__", "__eq__", "same"}, {"__repr__", "show"}),
        ("TestOld::test_list", {"opened", "make", "__init__", "__eq__", "same"}, {"close", "__repr__", "show"}),
    ],
)
async def test_only_what_ran_before_the_failure_is_reached(reach, case, before, after):
    names, around = await reach(case)
    assert names - {"<module>", "__iter__"} >= before
    assert not names & after
    assert after <= around | {"__len__", "count"}
    assert not around & before - {"__len__", "count"}
