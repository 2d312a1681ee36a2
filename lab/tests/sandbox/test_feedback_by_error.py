"""Whole requests whose feedback runs something: by the group of the error, and with LDB's question."""

from __future__ import annotations

import json

import pytest

from greenloop.core.events import Started, Tested
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

ROOT = "import math\n\n\ndef root(x):\n    return x\n"
TEST = "from m import root\n\n\ndef test_root():\n    assert root(16) == 4\n"
HALF = "def root(x):\n    half = x / 2\n    return half\n"
MADE_UP = "def root(x):\n    return math.squareroot(x)\n"
RIGHT = "def root(x):\n    return math.sqrt(x)\n"


@pytest.fixture
def play(tmp_path, monkeypatch, lay):
    """`play(*answers, source=…, **settings)`: (outcome, notes' texts by attempt)."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def run(*answers, source=ROOT, test=TEST, target="test_m.py::test_root", **keys):
        root = lay(tmp_path / "w", {"m.py": source, "test_m.py": test})
        script = tmp_path / "answers.jsonl"
        told = [f"```python\n{answer}```\n" if answer.startswith("def") else answer for answer in answers]
        script.write_text("".join(json.dumps(answer) + "\n" for answer in told))
        line = {"model": f"scripted:{script}", "preset": "plain", "sandbox.kind": "bubblewrap", **keys}
        found, warnings = configuration.load(root, command_line=line)
        assert not warnings
        events: list = []
        request = refine.RefineRequest(root=root, target=target, buffers={})
        outcome = await refine.refine(request, settings=found, emit=events.append, report_status=lambda _text: None)
        attempts = [event.baseline for event in events if isinstance(event, Started)]
        attempts += [event.attempt for event in events if isinstance(event, Tested)]
        return outcome, ["\n".join(note.text for note in attempt.notes) for attempt in attempts]

    return run


@pytest.mark.story("errors are traced for the model")
async def test_logic_errors_are_traced_and_made_up_names_looked_up(play):
    treat = {"feedback.logic": "runtime_trace", "feedback.runtime": "docs"}
    outcome, notes = await play(HALF, MADE_UP, RIGHT, **treat)
    assert outcome.solved
    assert notes[0].startswith("[BLOCK-1]\n# before: x=16\nreturn x\n# after: return 16\n")
    assert notes[1].startswith("[BLOCK-1]\n# before: x=16\nhalf = x / 2\nreturn half\n# after: half=8.0, return 8.0\n")
    assert notes[2] == "`math.squareroot` does not exist. Nearest:\nmath.sqrt(x, /): Return the square root of x."


async def test_ldb_asks_which_block_is_wrong(play):
    verdict = '{"block": 1, "correct": false, "explanation": "must take the square root"}'
    outcome, notes = await play(HALF, verdict, RIGHT, preset="ldb")
    assert outcome.solved
    assert notes[1].startswith("[BLOCK-1]\n# before: x=16\nhalf = x / 2\n")
    assert notes[1].endswith("[BLOCK-1] is wrong: must take the square root")
    assert outcome.usage.completion_tokens > 0


async def test_strategies_are_named_for_what_is_not_written_yet(play):
    stub = "import math\n\n\ndef root(x):\n    raise NotImplementedError\n"
    outcome, notes = await play("- ask the library\n- halve", RIGHT, source=stub, preset="codetree")
    assert outcome.solved
    assert outcome.attempts[0].notes[-1].fields["strategies"] == ("ask the library", "halve")
    assert outcome.attempts[1].draft.hint == "ask the library"
    assert notes[0].strip() == ""


TOTAL = "def total(items):\n    raise NotImplementedError\n"
TOTAL_TEST = "from m import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
FORGETS = (
    "def total(items):\n    sum_so_far = 0\n    for item in items:\n        sum_so_far = item\n    return sum_so_far\n"
)
ADDS = FORGETS.replace("sum_so_far = item\n", "sum_so_far += item\n")
VERIFICATION = "Test 1:\nsum_so_far = 0\nitem = 1, sum_so_far = 1\nitem = 2, sum_so_far = 3\nreturn = 3"


@pytest.mark.story("the first value that is not the plan's is told")
async def test_a_traced_run_is_compared_with_the_plan(play):
    plan = "1. sum_so_far holds 0\n2. add each item to sum_so_far\n3. return sum_so_far"
    outcome, notes = await play(
        plan, VERIFICATION, FORGETS, ADDS, source=TOTAL, test=TOTAL_TEST, target="test_m.py::test_total", preset="lpw"
    )
    assert outcome.solved
    divergence = outcome.attempts[1].notes[-1].fields["divergence"]
    assert {name: divergence[name] for name in ("variable", "line", "expected", "observed")} == {
        "variable": "sum_so_far",
        "line": 4,
        "expected": "3",
        "observed": "2",
    }
    assert notes[1].endswith(
        "In the test `assert total([1, 2]) == 3` the code first leaves the plan at line 4 of m.py, "
        "`sum_so_far = item`: the plan expects `sum_so_far` to be 3, but `sum_so_far` is 2."
    )
    assert outcome.attempts[0].notes[-1].fields["artefacts"]["plan"] == plan


async def test_a_planner_that_cannot_be_read_leaves_the_plain_path(play):
    outcome, _notes = await play("Sorry.", RIGHT, preset="codesim")
    assert outcome.solved
    assert outcome.attempts[0].notes[-1].fields["unparsable"] == "Sorry."
    assert outcome.attempts[1].draft.prompt == ""
