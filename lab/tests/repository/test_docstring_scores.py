"""How recorded outcomes of docstring tasks are scored: a small fixed table."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from greenloop.core.records.spec import Case, Provenance
from greenloop.plugins.written_tests.trust import consensus
from greenloop_lab.specs.trust import sets

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.docstrings.scoring import BOTH, DESIGNED, PROPERTY, Arm, accept_in_task, measure_rates, score_arm
from benchmarks.docstrings.task import Docstring, make_stub


def case(number: int, source: str, batch: str = "1", provenance: Provenance = Provenance.DESIGNED) -> dict:
    made = Case(id=f"t::test_{number}", path="m.py", line=1, provenance=provenance, source=source, batch=batch)
    return asdict(made)


A, B, P = "t::test_1", "t::test_2", "t::test_3"
CASES = [
    case(1, "assert f(1) == 2", "1 2"),
    case(2, "assert f(2) == 5", "3"),  # wrong: the reference gives 4
    case(3, "grows: result > x", "model", Provenance.PROPERTY),
]
RIGHT = {A: "passed", B: "= 4", P: "passed"}
WRONG = {A: "passed", B: "passed", P: "passed"}
STRANGE = {A: "= 7", B: "= 4", P: "! AssertionError"}


def row(candidates, examples=(), mutants=()) -> dict:
    shown = dict.fromkeys(examples, "passed")
    return {
        "task": "t",
        "real": False,
        "examples": list(examples),
        "cases": CASES,
        "reference": RIGHT | shown,
        "candidates": [
            {"numbers": numbers, "size": 1, "right": right, "tested": right, "seen": shown | seen}
            for numbers, right, seen in candidates
        ],
        "mutants": [{"right": False, "seen": seen} for seen in mutants],
        "tokens": {"candidate-0": 10, "candidate-1": 10, "designer-1": 5, "properties-1": 3},
    }


THREE_RIGHT = row([([1, 3, 4], True, RIGHT), ([2], False, WRONG), ([5], False, STRANGE)])


def test_all_designed_tests_accept_the_candidate_that_shares_their_mistake():
    found = accept_in_task(THREE_RIGHT, Arm(name="all", voters=DESIGNED))
    assert (found.chosen, found.right, found.kept) == (1, False, (True, False))


def test_a_rule_is_given_the_votes_and_its_choice_is_judged():
    wide = Arm(name="consensus", voters=DESIGNED, rule=consensus.rule)
    assert accept_in_task(THREE_RIGHT, wide).chosen is None  # one of two tests is less than three of five
    all_of_them = accept_in_task(THREE_RIGHT, Arm(name="both", voters=BOTH, rule=consensus.rule))
    assert (all_of_them.right, all_of_them.kept) == (True, (True, True))


def test_a_no_of_the_user_makes_the_references_value_bind():
    asking = Arm(name="sets", voters=DESIGNED, rule=sets.rule, questions=3)
    found = accept_in_task(THREE_RIGHT, asking)
    assert found.right
    assert found.asked >= 1
    assert all(found.kept)


def test_who_is_believed_with_the_docstrings_own_examples_is_not_asked_about():
    asking = Arm(name="both", voters=BOTH, rule=consensus.rule, questions=3)
    sure = row([([1, 3, 4], True, RIGHT), ([2], False, WRONG)], examples=["m.py::f::doctest-1"])
    assert accept_in_task(sure, asking).asked == 0
    assert accept_in_task(THREE_RIGHT, asking).asked > 0


def test_examples_alone_accept_the_first_candidate_and_nothing_where_there_are_none():
    alone = Arm(name="examples", voters=(), bare=True)
    shown = row([([2], False, STRANGE), ([1], True, RIGHT)], examples=["m.py::f::doctest-1"])
    assert (accept_in_task(shown, alone).right, accept_in_task(shown, alone).tokens) == (True, 10)
    assert accept_in_task(THREE_RIGHT, alone).chosen is None


def test_a_candidate_that_fails_an_example_is_never_accepted():
    failing = row([([1], False, WRONG | {"m.py::f::doctest-1": "= 0"})], examples=["m.py::f::doctest-1"])
    assert accept_in_task(failing, Arm(name="all", voters=DESIGNED)).chosen is None


def test_a_score_counts_solved_false_and_nothing():
    found = score_arm([THREE_RIGHT, row([([1], True, RIGHT)])], Arm(name="all", voters=DESIGNED))
    assert (found.solved, found.false, found.nothing, found.kept) == (0, 1, 1, (1, 2))
    assert found.tokens == pytest.approx((10 + 10 + 5 + 25) / 2)


def test_rates_of_tests_on_references_and_on_wrong_programs():
    found = measure_rates([row([([1], True, RIGHT), ([2], False, WRONG)], mutants=[STRANGE])], DESIGNED)
    assert (found.tests, found.true_positives) == ((1, 2), (0, 1))
    assert found.false_positives == (1, 2)  # the wrong candidate passes all
    assert found.sound == (1, 2)
    assert measure_rates([THREE_RIGHT], PROPERTY).true_positives == (1, 1)


def test_a_function_is_unwritten_behind_its_docstring():
    text = 'import os\n\n\ndef f(x):\n    """Twice.\n\n    >>> f(1)\n    2\n    """\n    y = x\n    return y + y\n\n\nZ = 1\n'
    stub = make_stub(text, "f")
    assert stub == text.replace("    y = x\n    return y + y\n", "    raise NotImplementedError\n")
    made = Docstring(id="t", folder=".", path="m.py", qualname="f", text=stub, reference=text, judge=(), tests=())
    assert (made.region.start, made.region.end) == (4, 10)
    assert len(made.examples.cases) == 1
