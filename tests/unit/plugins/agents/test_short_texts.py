"""Short texts about a verification: what they say, and how long they are."""

from __future__ import annotations

import pytest

from greenloop.engine.verify.report import Tampering, Verification
from greenloop.plugins.agents.short_texts import describe_verification
from greenloop.project.revisions.judging import JudgingChange
from greenloop_sandbox import CaseResult, Failure, Frame

FRAME = Frame(path="shop/cart.py", line=12, function="total")
FAILURE = Failure(type="AssertionError", message="assert 3 == 4", frames=(FRAME,))
CASES = tuple(
    CaseResult(id=f"tests/test_{n}.py::test_{'x' * 80}", outcome="failed", failure=FAILURE) for n in range(40)
)
IDS = tuple(case.id for case in CASES)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"reason": "1 test that must pass does not.", "cases": CASES[:1], "failed": IDS[:1]},
            [
                "1 test that must pass",
                f"failed: {IDS[0]}: AssertionError: assert 3 == 4, shop/cart.py:12",
                "Next: Correct",
            ],
        ),
        (
            {"reason": "It exits.", "tampered": (Tampering(case=IDS[0], reason="It exits."),)},
            ["It exits.", f"tampered with: {IDS[0]}", "Next: Change the code"],
        ),
        (
            {"reason": "r", "judging_changes": (JudgingChange(path="test_m.py", change="edits", role="a test file"),)},
            ["edited, although it judges: test_m.py", "Next: Undo"],
        ),
        ({"reason": "x" * 5000, "cases": CASES, "failed": IDS}, ["and 35 more", "Next: Correct"]),
        (
            {"verified": True, "unearned": {IDS[0]: "apart it fails with AssertionError"}},
            [
                "1 test passes, and nothing shows",
                f"not proven: {IDS[0]}: apart it fails",
                "Next: Finish what is missing",
            ],
        ),
        (
            {
                "verified": True,
                "data": {"other_inputs": {"differences": [], "doubts": ["`days` never reads `year`, m.py:2"]}},
            },
            ["perhaps unfinished: `days` never reads `year`, m.py:2", "Next: Finish what is missing"],
        ),
        ({"verified": True}, []),
        ({"nothing_staged": True, "reason": "Nothing differs."}, []),
    ],
    ids=["failing", "tampered", "edited", "many", "partially", "unfinished", "verified", "nothing"],
)
def test_the_answer_for_the_agent(fields, words):
    text = describe_verification(Verification(**fields))
    assert all(word in text for word in words)
    assert bool(text) is bool(words)
    assert len(text) / 4 <= 400
