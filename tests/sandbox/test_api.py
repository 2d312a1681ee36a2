"""The public Python API in real sandboxes: the script of the documentation, and a stored result over changed text."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
WRONG = "FACTOR = 2\n\n\ndef double(x):\n    return x + FACTOR\n"
RIGHT = WRONG.replace("x + FACTOR", "x * FACTOR")
TEST = "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n"
TYPED = "TYPED = 1  # meanwhile\n\n\n"


@pytest.fixture
def work(tmp_path, monkeypatch):
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps("```python\ndef double(x):\n    return x * FACTOR\n```") + "\n")
    monkeypatch.setenv("GREENLOOP_MODEL", f"scripted:{answers}")
    monkeypatch.setenv("GREENLOOP_PRESET", "plain")
    root = tmp_path / "project"
    root.mkdir()
    (root / "m.py").write_text(WRONG)
    (root / "test_m.py").write_text(TEST)
    return root


def python(work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "server")}
    return subprocess.run([sys.executable, *words], cwd=work, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.story("the public API refines and applies in ten lines")
def test_the_script_of_the_documentation(work):
    script = re.findall(r"```python\n(.*?)```", (ROOT / "docs/api.md").read_text(), re.DOTALL)[0]
    assert sum(line != "" for line in script.splitlines()) == 10
    done = python(work, "-c", script)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^Started 1 $", done.stdout, re.MULTILINE)
    assert re.search(r"^Finished \d finishing$", done.stdout, re.MULTILINE)
    assert re.search(r"^Verified in bubblewrap: .* \['m.py'\]$", done.stdout, re.MULTILINE)
    assert (work / "m.py").read_text() == RIGHT


def test_a_stored_result_is_merged_with_later_changes_and_verified_again(work):
    assert python(work, "-m", "greenloop", "fix", "test_m.py::test_double", "--json").returncode == 0
    broken = WRONG.replace("FACTOR = 2", "FACTOR = 3")
    (work / "m.py").write_text(broken)
    refused = python(work, "-m", "greenloop", "history", "apply", "--yes")
    assert (refused.returncode, (work / "m.py").read_text()) == (1, broken)
    assert "m.py changed during the run, and the result fails with that change." in refused.stderr
    (work / "m.py").write_text(TYPED + WRONG)
    done = python(work, "-m", "greenloop", "history", "apply", "--yes")
    assert done.returncode == 0, done.stderr
    assert (work / "m.py").read_text() == TYPED + RIGHT
