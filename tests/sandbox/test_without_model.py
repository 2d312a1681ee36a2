"""What people forget or misspell is mended before a model is asked."""

from __future__ import annotations

import json

import pytest

from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

TEST = "from m import double\n\n\ndef test_double():\n    assert double([1, 2]) == [1, 2, 1, 2]\n"
# name: the line that is wrong, and what becomes of it
SLIPS = {
    "no return of an expression": ("    x * 2", "    return x * 2"),
    "no return of a name": (
        "    twice = list(x)\n    twice += x",
        "    twice = list(x)\n    twice += x\n    return twice",
    ),
    "a misspelled name": ("    result = x * 2\n    return resutl", "    result = x * 2\n    return result"),
    "a misspelled method": ("    y = x.cpoy()\n    return x + y", "    y = x.copy()\n    return x + y"),
}


@pytest.mark.parametrize("name", SLIPS)
async def test_a_slip_costs_no_question(name, tmp_path, monkeypatch, lay):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    wrong, right = (f"def double(x):\n{body}\n" for body in SLIPS[name])
    root = lay(tmp_path / "w", {"m.py": wrong, "test_m.py": TEST})
    script = tmp_path / "answers.jsonl"
    script.write_text(json.dumps("no answer") + "\n")
    keys = {"model": f"scripted:{script}", "sandbox.kind": "bubblewrap"}
    settings, _ = configuration.load(root, command_line=keys)
    request = refine.Request(root=root, target="test_m.py")
    outcome = await refine.refine(request, settings=settings, emit=lambda _event: None)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert (outcome.after, outcome.usage.completion_tokens) == ({"m.py": right}, 0)
