"""The next step after a verification."""

from __future__ import annotations

import pytest

from greenloop.engine.verify.report import Tampering, Verification
from greenloop.wording.step import next_step


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"verified": True}, ""),
        ({"tampered": (Tampering(case="t", reason="r"),)}, "fake"),
        ({"failed": ("t",)}, "explain"),
        ({"failed": ("t",), "still_failing": ("t",)}, "report_impossible"),
        ({}, "reason"),
    ],
)
def test_the_next_step(fields, words):
    step = next_step(Verification(**fields).state.value)
    assert words in step
    assert bool(step) is not fields.get("verified", False)
