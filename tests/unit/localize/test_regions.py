"""Which code to change, by traceback, spectrum, the test's words and depth."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Failure, Frame
from greenloop.localize import regions
from greenloop.project import targets

CART = (
    """\
def log(x):
    return x


class Cart:
    def __init__(self):
        self.items = []

    def add(self, price):
        self.items.append(log(price))

    @property
    def count(self):
        return len(self.items)

    def total(self):
        def inner(values):
            return sum(values) + 1
        return inner(self.items)


def big():
"""
    + "    x = 1\n" * 30
)

TEST = """\
from cart import Cart


def make():
    return Cart()


def test_total():
    cart = make()
    cart.add(2)
    result = cart.total()
    assert result == 2


def test_count():
    cart = make()
    cart.add(2)
    assert cart.count == 1
"""

TEXTS = {"cart.py": CART, "test_cart.py": TEST, "conftest.py": "def helper():\n    pass\n"}


@dataclass(frozen=True)
class Reach:
    path: str
    firstlineno: int
    name: str
    depth: int = 1
    caller: object = None


def line(part, text=CART):
    return text[: text.index(part)].count("\n") + 1


INIT = Reach("cart.py", line("def __init__"), "Cart.__init__")
ADD = Reach("cart.py", line("def add"), "Cart.add")
LOG = Reach("cart.py", line("def log"), "log", 2)
TOTAL = Reach("cart.py", line("def total"), "Cart.total")
INNER = Reach("cart.py", line("def inner"), "Cart.total.<locals>.inner", 2)
COUNT = Reach("cart.py", line("@property"), "Cart.count")
MODULE = Reach("cart.py", 1, "<module>", 1)
HELPER = Reach("conftest.py", 1, "helper")
OUTSIDE = Reach("/usr/lib/python3/json/__init__.py", 3, "loads")
PACKAGE = Reach(".venv/lib/python3.11/site-packages/x.py", 3, "f")


def fail(*frames, kind="AssertionError"):
    return Failure(type=kind, message="", frames=tuple(Frame(path=p, line=n, function="f") for p, n in frames))


def names(reached, failing, passing=()):
    return [region.qualname for region in regions.rank(reached, failing, passing, TEXTS.get)]


ASSERT = ("test_cart.py", line("assert result == 2", TEST))
EVERYTHING = (HELPER, OUTSIDE, PACKAGE, INIT, ADD, LOG, TOTAL, INNER)


@pytest.mark.parametrize(
    ("reached", "failure", "passing", "expected"),
    [
        # The traceback wins: where it was raised, then its callers.
        (
            {"a": EVERYTHING},
            fail(ASSERT, ("cart.py", line("self.items.append")), ("cart.py", 2)),
            (),
            ["log", "Cart.add"],
        ),
        # Frames in libraries below the workspace's function do not matter.
        ({"a": EVERYTHING}, fail(ASSERT, ("cart.py", line("return sum")), ("/usr/lib/x.py", 9)), (), ["Cart.total"]),
        # What only the failing test reaches is more suspicious.
        ({"a": EVERYTHING, "b": (INIT, ADD, LOG, COUNT)}, fail(ASSERT), ("b",), ["Cart.total"]),
        # Nothing tells them apart but the test's words and the order of entry.
        ({"a": EVERYTHING}, fail(ASSERT), (), ["Cart.total", "Cart.add"]),
        ({"a": EVERYTHING}, None, (), ["Cart.total", "Cart.add"]),
        # A frame is enough when nothing was traced.
        ({}, fail(ASSERT, ("cart.py", line("return len"))), (), ["Cart.count"]),
        # An error while a module is read belongs to no function.
        ({"a": (MODULE,)}, fail(("test_cart.py", 1), ("cart.py", 4)), (), []),
    ],
)
def test_rank(reached, failure, passing, expected):
    assert names(reached, {"a": failure}, passing)[: max(1, len(expected))] == expected


def test_only_functions_of_the_workspace_outside_tests_are_regions():
    assert set(names({"a": EVERYTHING}, {"a": fail(ASSERT)})) == {"log", "Cart.__init__", "Cart.add", "Cart.total"}


def test_constructors_come_last_among_equals():
    assert names({"a": EVERYTHING}, {"a": None})[-1] == "Cart.__init__"


def test_regions_have_their_decorators():
    (first, *_) = regions.rank({"a": (COUNT,)}, {"a": None}, (), TEXTS.get)
    assert first == Region(path="cart.py", qualname="Cart.count", start=line("@property"), end=line("return len"))


def test_files_that_are_gone_are_no_regions():
    assert regions.rank({"a": (Reach("gone.py", 1, "f"),)}, {"a": fail(("gone.py", 1))}, (), TEXTS.get) == []


def region(qualname):
    found = targets.find_target(CART, "cart.py", qualname)
    return targets.region_for(found, CART)


@pytest.mark.parametrize(
    ("ranked", "failure", "chosen"),
    [
        ([], None, []),
        (["log"], None, ["log"]),
        (["Cart.total", "Cart.add", "log"], None, ["Cart.total", "Cart.add"]),
        (["Cart.total", "big"], None, ["Cart.total"]),
        (["big", "Cart.total"], None, ["big"]),
        (["log", "Cart.add"], fail(("cart.py", 2), kind="NotImplementedError"), ["log"]),
    ],
)
def test_choose(ranked, failure, chosen):
    taken = regions.choose([region(name) for name in ranked], TEXTS.get, [failure])
    assert [item.qualname for item in taken] == chosen


@pytest.mark.parametrize(
    ("most", "chosen"), [(1, ["log"]), (2, ["log", "Cart.add"]), (9, ["log", "Cart.add", "Cart.total"])]
)
def test_the_setting_says_how_many_functions_one_edit_may_change(most, chosen):
    ranked = [region(name) for name in ("log", "Cart.add", "Cart.total")]
    assert [item.qualname for item in regions.choose(ranked, TEXTS.get, most=most)] == chosen


def test_a_function_without_a_body_yet_goes_alone():
    text = 'def a():\n    """Doc."""\n    ...\n\ndef b():\n    return a()\n'
    ranked = [targets.region_for(targets.find_target(text, "m.py", name), text) for name in "ab"]
    assert [item.qualname for item in regions.choose(ranked, {"m.py": text}.get)] == ["a"]
    assert len(regions.choose(ranked[::-1], {"m.py": text}.get)) == 2


def test_again_finds_a_region_that_moved():
    moved = regions.relocate(region("Cart.total"), "\n\n" + CART)
    assert moved.start == region("Cart.total").start + 2
    assert regions.relocate(region("Cart.total"), "x = 1\n") == region("Cart.total")


def test_the_other_suspects_are_written_functions_of_modules_whose_tests_ran():
    names_of_all = [f"f{number}" for number in range(14)]
    functions = "\n\n\n".join(f"def {name}(x):\n    return x" for name in names_of_all)
    text = f"{functions}\n\n\ndef stub():\n    ...\n"
    ranked = [targets.region_for(targets.find_target(text, "m.py", name), text) for name in ("f0", "stub", "f1", "f2")]
    others = regions.others(ranked, ranked[:1], {"m.py": text}.get, ["m.py"])
    assert [item.qualname for item in others] == ["f1", "f2"]
    assert regions.others(ranked, ranked[:1], {"m.py": text}.get, ["other.py"]) == ()
    many = [targets.region_for(targets.find_target(text, "m.py", name), text) for name in names_of_all]
    assert len(regions.others(many, [], {"m.py": text}.get, ["m.py"])) == regions.MOST_SUSPECTS
