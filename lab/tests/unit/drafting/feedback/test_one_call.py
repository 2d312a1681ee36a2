"""The reflection of an answer with a draft, a reflection and a correction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from double_problem import PROBLEM, RIGHT, make_attempt
from greenloop_lab.drafting.feedback import one_call

DRAFT, CORRECTION = (
    "```python\ndef double(x):\n    return x + 1\n```",
    "```python\ndef double(x):\n    return 2 * x\n```",
)


@pytest.mark.parametrize(
    ("answer", "reflection"),
    [
        (f"{DRAFT}\nReflection:\nIt adds one.\nFor 5 it gives 6.\n\nCorrection:\n{CORRECTION}", "It adds one. For 5 it gives 6."),
        (f"## Draft\n{DRAFT}\n**Reflection:** It adds one.\n### Correction\n{CORRECTION}\nDone.", "It adds one."),
        (f"{DRAFT}\n{CORRECTION}", ""),
        (f"It adds one.\n{CORRECTION}", ""),
        (f"{DRAFT}\nIt adds one.\n```python\ndef double(x):", "It adds one."),
        (f"{DRAFT}\nIt adds one.\n{CORRECTION}\n```", "It adds one."),
        ("", ""),
    ],
)  # fmt: skip
async def test_the_reflection_is_kept_apart(answer, reflection):
    newest = replace(make_attempt(1, RIGHT), answer=answer)
    note = await one_call.describe(PROBLEM, [newest], None)
    assert note.fields.get("reflection", "") == reflection
    assert note.fields.get("artefacts", {}) == ({"reflection": reflection} if reflection else {})


async def test_a_reflection_without_a_correction_is_told():
    newest = replace(make_attempt(1, RIGHT), answer=f"{DRAFT}\n\nReflection:\nIt adds one.\n\nFor 5 it gives 6.")
    note = await one_call.describe(PROBLEM, [newest], None)
    assert note.text == "You wrote about it: It adds one. For 5 it gives 6."
    corrected = replace(newest, answer=f"{DRAFT}\nIt adds one.\n{CORRECTION}")
    assert (await one_call.describe(PROBLEM, [corrected], None)).text == ""
