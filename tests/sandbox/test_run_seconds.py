"""`seconds` is the wall time of a whole run, also where the suite takes longer than that."""

from __future__ import annotations

import json
from pathlib import Path
from time import monotonic

import pytest

from greenloop.core.errors import OutOfTimeError
from greenloop.core.records.outcome import Outcome, Verified
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

SECONDS = 40.0
MARGIN = 4.0  # taking the sandbox down, on a busy machine
CODE = "def double(x):\n    return x + 1\n"
TEST = "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n"
SLOW_SUITE = """\
import time
import pytest
from m import double


@pytest.mark.parametrize("number", range(900))
def test_type(number):
    time.sleep(0.2)
    assert isinstance(double(number), int)
"""
RIGHT, WRONG = (f"```python\ndef double(x):\n    return {text}\n```" for text in ("x * 2", "x * 3"))


async def timed_run(root: Path, files: dict[str, str], *answers: str, **keys) -> Outcome:
    """The outcome of a run that must not take longer than it may."""
    for name, text in files.items():
        (root / name).write_text(text)
    script = root.parent / "answers.jsonl"
    script.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    told = {"model": f"scripted:{script}", "preset": "plain", "sandbox.kind": "bubblewrap", "seconds": SECONDS}
    settings, warnings = configuration.load(root, command_line={**told, **keys})
    assert not warnings
    request = refine.RefineRequest(root=root, target="test_m.py::test_double")
    began = monotonic()
    try:
        outcome = await refine.refine(request, settings=settings, emit=lambda _event: None)
    finally:
        assert monotonic() - began < settings.seconds + MARGIN
    return outcome


async def test_a_suite_that_takes_longer_than_the_run_leaves_time_to_search_and_to_prove(tmp_path):
    files = {"m.py": CODE, "test_m.py": TEST, "test_slow.py": SLOW_SUITE}
    outcome = await timed_run(tmp_path, files, WRONG, RIGHT)
    assert (outcome.solved, outcome.verified) == (True, Verified.PARTIALLY), outcome.message
    assert outcome.evidence.neighbours_left_out > 100  # 900 cases of 0.2 s in a run of 40 s


async def test_a_target_that_takes_longer_than_the_run_ends_with_one_sentence(tmp_path):
    slow = TEST.replace("def test_double():\n", "def test_double():\n    import time\n    time.sleep(60)\n")
    with pytest.raises(OutOfTimeError, match="The run's 15 s .* were over before the tests"):
        await timed_run(tmp_path, {"m.py": CODE, "test_m.py": slow}, RIGHT, seconds=15.0, **{"sandbox.seconds": 2.0})
