"""What other models tried before: their best changes with the tests that fail; nothing of turns or small changes."""

from __future__ import annotations

from pathlib import Path

from attempts import attempt, baseline, verdict
from greenloop.core.records.attempt import Finding, Move
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.plugins.conversations.messages import MOST, describe_tried
from greenloop_sandbox import CaseResult

CODE = "def f(x):\n    return x\n"
F = Region(path="m.py", qualname="f", start=1, end=2)
PROBLEM = Problem(root=Path("/w"), spec=Spec(), regions=(F,), originals={"m.py": CODE}, files={"m.py": CODE})


def answer(number, move=Move.DRAFT, **more):
    return attempt(number, move, {F: f"def f(x):\n    return x + {number}\n"}, **more)


def test_a_change_with_its_failures():
    assert describe_tried(PROBLEM, [baseline(), answer(1, passed=1)]) == (
        "Another model tried this before you; none of it is kept:\n\n"
        "```diff\n--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n def f(x):\n-    return x\n+    return x + 1\n```\n"
        "1 of 2 tests pass with it.\n```text\nt.py::1: AssertionError: assert 1 == 2\n```"
    )


def test_a_change_that_breaks_others():
    broken = verdict(2, collateral=(CaseResult(id="u.py::a", outcome="failed"),))
    assert "```text\nu.py::a: failed\n```" in describe_tried(PROBLEM, [baseline(), answer(1, verdict=broken)])


def test_the_best_ones_in_their_order():
    attempts = [baseline(), *(answer(number, passed=number % 2) for number in range(1, 8))]
    text = describe_tried(PROBLEM, attempts)
    assert text.count("```diff") == MOST
    assert [number for number in range(1, 8) if f"return x + {number}" in text] == [3, 5, 7]


def test_nothing_where_no_model_was_asked():
    others = [
        answer(1, Move.MUTATE),
        answer(2, Move.INFILL),
        attempt(3, Move.DRAFT, finding=Finding(error_class="NoCode", message="")),
    ]
    assert describe_tried(PROBLEM, [baseline(), *others]) == ""
    assert describe_tried(PROBLEM, [baseline(), answer(1, Move.TURN), answer(2)]) == ""


def test_it_stays_the_same_when_turns_follow():
    attempts = [baseline(), answer(1), answer(2, Move.TURN), answer(3, Move.DRAFT)]
    assert describe_tried(PROBLEM, attempts) == describe_tried(PROBLEM, attempts[:2])


def test_a_change_that_is_too_long_is_left_out():
    long = attempt(1, Move.DRAFT, {F: "def f(x):\n" + "    x = x + 1\n" * 1000})
    assert describe_tried(PROBLEM, [baseline(), long]) == ""
