"""The workflows for tests and releases: they cannot run here, so at least what they name exists."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from greenloop import __version__

HOUSE = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((HOUSE / ".github/workflows").glob("*.yml"))


def read(path: Path) -> dict:
    return yaml.load(path.read_text(), Loader=yaml.BaseLoader)  # in YAML 1.1 `on` would be true


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_do_little_and_not_for_long(path):
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in workflow["on"]
    assert all(int(job["timeout-minutes"]) <= 45 for job in workflow["jobs"].values())
    assert path.read_text().startswith("# Never run")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_names_exists(path):
    text = path.read_text()
    named = re.findall(r"(?<![\w/.])((?:scripts|ci|tests|\.ci)/[\w./-]+)", text)
    assert named
    assert [name for name in named if not (HOUSE / name).exists()] == []
    scripts = json.loads((HOUSE / "vscode-client/package.json").read_text())["scripts"]
    assert {*re.findall(r"npm run (\w+)", text)} <= {*scripts}


@pytest.mark.parametrize("tag", [f"v{__version__}", "v99.0.0"])
def test_a_release_has_one_version(tag):
    command = [sys.executable, str(HOUSE / "scripts/release_version.py"), tag]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if tag == "v99.0.0":
        assert done.returncode == 1
        parts = ("the package", "the extension", "the changelog")
        assert done.stderr.strip() == f"The tag {tag} is not the version everywhere: " + (
            ", ".join(f"{part} has {__version__}" for part in parts) + "."
        )
    else:
        assert (done.returncode, done.stderr) == (0, "")
