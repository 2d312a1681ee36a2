"""Which of the ranked functions may be changed."""

from __future__ import annotations

import pytest

from cart import CART, TEXTS
from greenloop.core.records.spec import Region
from greenloop.localize import regions
from greenloop.project import targets
from greenloop_sandbox import Failure, Frame


def fail(*frames, kind="AssertionError"):
    return Failure(type=kind, message="", frames=tuple(Frame(path=p, line=n, function="f") for p, n in frames))


def region(qualname):
    found = targets.find_target(CART, "cart.py", qualname)
    return found.region


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
    ranked = [targets.find_target(text, "m.py", name).region for name in "ab"]
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
    ranked = [targets.find_target(text, "m.py", name).region for name in ("f0", "stub", "f1", "f2")]
    others = regions.others(ranked, ranked[:1], {"m.py": text}.get, ["m.py"])
    assert [item.qualname for item in others] == ["f1", "f2"]
    assert regions.others(ranked, ranked[:1], {"m.py": text}.get, ["other.py"]) == ()
    many = [targets.find_target(text, "m.py", name).region for name in names_of_all]
    assert len(regions.others(many, [], {"m.py": text}.get, ["m.py"])) == regions.MOST_SUSPECTS


def test_of_thousands_of_functions_only_the_first_are_looked_at():
    text = "".join(f"def f{number}():\n    return {number}\n" for number in range(3000))
    ranked = [
        Region(path="m.py", qualname=f"f{number}", start=2 * number + 1, end=2 * number + 2) for number in range(3000)
    ]
    asked: list[str] = []

    def text_of(path: str) -> str:
        asked.append(path)
        return text

    found = regions.others(ranked, ranked[:1], text_of, ["m.py"])
    assert [each.qualname for each in found] == [f"f{number}" for number in range(1, 10)]
    assert len(asked) == len(found)
