"""Every example goes from red to green with its scripted answer, and its other tests stay as they were."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration

HERE = Path(__file__).parents[2] / "examples"
EXAMPLES = tomllib.loads((HERE / "targets.toml").read_text())
CHOSEN = [pytest.param("bubblewrap", name, marks=pytest.mark.needs("bubblewrap")) for name in EXAMPLES]
CHOSEN += [
    pytest.param("docker", name, marks=pytest.mark.needs("docker")) for name in EXAMPLES if name != "third_party"
]


@pytest.mark.story(
    "the examples go green",
    only=("bubblewrap-fibonacci",),
)
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("kind", "name"), CHOSEN)
async def test_example(kind, name, tmp_path, monkeypatch):
    project = tmp_path / name
    shutil.copytree(HERE / name, project, ignore=shutil.ignore_patterns(".venv", "__pycache__"))
    if name == "third_party":
        monkeypatch.delenv("GREENLOOP_INTERPRETER")
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", project / ".venv"], check=True)
        subprocess.run(
            [project / ".venv/bin/pip", "install", "-q", "--disable-pip-version-check", "-r", "requirements.txt"],
            cwd=project,
            check=True,
        )
    found, _ = configuration.load(
        project,
        command_line={
            "model": f"scripted:{HERE / 'answers' / name}.jsonl",
            "preset": "plain",  # an answer a request, whatever is asked
            "sandbox.kind": kind,
        },
    )
    outcome = await refine.refine(
        refine.RefineRequest(root=project, target=EXAMPLES[name]["target"]), settings=found, emit=lambda _event: None
    )
    assert outcome.solved, outcome.message
    assert outcome.verified is Verified.VERIFIED
    assert outcome.evidence.sandbox == kind
