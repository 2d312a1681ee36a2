"""Answers of the tools: short for any suite, with counts of what they leave out."""

from __future__ import annotations

import json

import mcp_types as types
import pytest

from greenloop.api.testing import SuiteReport
from greenloop.engine.verify.report import Verification
from greenloop.plugins.agents.mcp.answers import MOST, below, reply, shorten
from greenloop.plugins.agents.mcp.tools import run_tests, verify
from greenloop_sandbox import CaseResult, Failure

TOKENS = 600  # of an answer, text and object together, by a quarter of its characters


def suite(count: int, outcome: str = "passed") -> tuple[CaseResult, ...]:
    failure = (
        Failure(type="AssertionError", message=f"assert {'x' * 300} == 2", text="") if outcome != "passed" else None
    )
    return tuple(
        CaseResult(
            id=f"tests/test_orders.py::test_total_of_an_order[{n}]", outcome=outcome, seconds=0.01, failure=failure
        )
        for n in range(count)
    )


def tokens(value) -> int:
    answer = reply(value)
    (text,) = answer.content
    assert isinstance(text, types.TextContent)
    return len(text.text + json.dumps(answer.structured_content)) // 4


@pytest.mark.parametrize("count", [10, 500, 5000])
@pytest.mark.parametrize("kind", ["passing", "fixed", "failing", "old failures"])
def test_an_answer_about_a_suite_of_any_size_is_short(count, kind):
    cases = suite(count, "failed" if kind in ("failing", "old failures") else "passed")
    ids = tuple(case.id for case in cases)
    fields = {
        "passing": {"verified": True, "apart": ids[:400], "together": dict.fromkeys(ids[400:], "it is a doctest")},
        "fixed": {"verified": True, "fixed": ids},
        "failing": {"reason": "Many fail.", "failed": ids},
        "old failures": {"verified": True, "already_failing": ids},
    }[kind]
    answer = verify.answer(
        Verification(cases=cases, base="a" * 40, revision="HEAD", sandbox="bubblewrap", **fields), ""
    )
    limit = TOKENS if kind == "passing" else 2 * TOKENS  # named failures may take as much again
    assert tokens(answer) <= limit
    shown = answer.failed + answer.fixed + answer.already_failing
    assert len(shown) <= MOST
    assert sum(answer.left_out.values()) == (max(count - MOST, 0) if kind != "passing" else 0)
    ran = run_tests.answer(SuiteReport(results=cases, seconds=1.0), "")
    assert tokens(ran) <= 2 * TOKENS
    assert ran.passed + len(ran.failed) + ran.left_out.get("failed", 0) == count


@pytest.mark.parametrize(
    ("place", "numbers"),
    [
        ("", []),
        (".", [0, 1, 2]),
        ("tests", [0, 1, 2]),
        ("tests/", [0, 1, 2]),
        ("tests/test_orders.py", [0, 1, 2]),
        ("tests/test_orders.py::test_total_of_an_order", [0, 1, 2]),
        ("tests/test_orders.py::test_total_of_an_order[1]", [1]),
        ("test", []),
    ],
)
def test_the_cases_below_a_place(place, numbers):
    cases = suite(3)
    assert [each.id for each in below(cases, place)] == [cases[number].id for number in numbers]


def test_a_long_message_is_its_first_line():
    assert shorten("one\ntwo") == "one"
    assert len(shorten("x" * 500)) == 160
