"""Which code to change, by all signals together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from cart import CART, TEST, TEXTS
from greenloop.core.records.spec import Region
from greenloop.localize import ranking
from greenloop.localize.evidence import gather_evidence
from greenloop_sandbox import Failure, Frame
from greenloop_sandbox.report.traces import StatementTrace


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
    return [region.qualname for region in ranking.rank(gather_evidence(reached, failing, passing, TEXTS.get))]


ASSERT = ("test_cart.py", line("assert result == 2", TEST))
EVERYTHING = (HELPER, OUTSIDE, PACKAGE, INIT, ADD, LOG, TOTAL, INNER)


@pytest.mark.parametrize(
    ("reached", "failure", "passing", "expected"),
    [
        # The traceback and the test's words: its callers are named there.
        (
            {"a": EVERYTHING},
            fail(ASSERT, ("cart.py", line("self.items.append")), ("cart.py", 2)),
            (),
            ["Cart.add", "log"],
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
    evidence = gather_evidence({"a": (INIT, ADD)}, {"a": None}, (), TEXTS.get)
    ranked = ranking.sort_by(evidence, dict.fromkeys(evidence.suspects, 1.0))
    assert [region.qualname for region in ranked] == ["Cart.add", "Cart.__init__"]


def test_regions_have_their_decorators():
    (first, *_) = ranking.rank(gather_evidence({"a": (COUNT,)}, {"a": None}, (), TEXTS.get))
    assert first == Region(path="cart.py", qualname="Cart.count", start=line("@property"), end=line("return len"))


def test_files_that_are_gone_are_no_regions():
    evidence = gather_evidence({"a": (Reach("gone.py", 1, "f"),)}, {"a": fail(("gone.py", 1))}, (), TEXTS.get)
    assert ranking.rank(evidence) == []


def test_the_branch_that_only_the_failing_case_takes_counts_in_a_function_that_all_enter():
    reached = {"a": (INIT, ADD, LOG, TOTAL), "b": (INIT, ADD, LOG, TOTAL)}
    evidence = gather_evidence(reached, {"a": None}, ("b",), TEXTS.get)
    both = frozenset({line("return x"), line("self.items = ["), line("self.items.append"), line("def inner")})
    traces = {
        "a": StatementTrace(lines={"cart.py": both | {line("return inner")}}),
        "b": StatementTrace(lines={"cart.py": both}),
    }
    assert ranking.rank(replace(evidence, statements=traces))[0].qualname == "Cart.total"


def test_a_signal_without_weight_does_not_count():
    failure = fail(ASSERT, ("cart.py", line("return sum")))
    evidence = gather_evidence({"a": EVERYTHING}, {"a": failure}, (), TEXTS.get)
    assert set(ranking.suspicions(evidence, {"traceback": 0.0}).values()) == {0.0}
    by_name = ranking.suspicions(evidence, {"traceback": 2.0})
    assert {region.qualname: score for region, score in by_name.items() if score} == {"Cart.total": 2.0}


def test_thousands_of_functions_are_ranked():
    text = "".join(f"def f{number}(x):\n    return x\n" for number in range(3000))
    reached = {case: [Reach("m.py", 2 * n + 1, f"f{n}", 1 + n % 7) for n in range(3000)] for case in "abc"}
    evidence = gather_evidence(reached, {"a": None}, ("b", "c"), {"m.py": text}.get)
    assert len(ranking.rank(evidence)) == 3000
