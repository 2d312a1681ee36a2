"""The workflows for tests and releases: they cannot run here, so at least what they name exists."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

HOUSE = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((HOUSE / ".github/workflows").glob("*.yml"))


def read(path: Path) -> dict:
    return yaml.load(path.read_text(), Loader=yaml.BaseLoader)  # in YAML 1.1 `on` would be true


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_do_little_and_not_for_long(path):
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in workflow["on"]
    # A job that is another workflow has the limits of that one.
    assert all("uses" in job or int(job["timeout-minutes"]) <= 45 for job in workflow["jobs"].values())
    assert path.read_text().startswith("# Never run")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_names_exists(path):
    text = path.read_text()
    named = re.findall(r"(?<![\w/.])((?:scripts|ci|tests|\.ci)/[\w./-]+)", text)
    assert named
    assert [name for name in named if not (HOUSE / name).exists()] == []
    scripts = json.loads((HOUSE / "vscode-client/package.json").read_text())["scripts"]
    assert {*re.findall(r"npm run (\w+)", text)} <= {*scripts}


@pytest.mark.parametrize("path", [*WORKFLOWS, HOUSE / "ci/github/action.yml"], ids=lambda path: path.stem)
def test_an_action_is_pinned_by_its_commit(path):
    for used in re.findall(r"uses: (\S+.*)", path.read_text().partition("\nruns:")[2] or path.read_text()):
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+|\./\.github/workflows/tests\.yml", used)


def test_a_release_begins_with_the_tests_and_takes_no_program_that_is_not_locked():
    release = read(HOUSE / ".github/workflows/release.yml")
    assert release["jobs"]["build"]["needs"] == "tests"
    text = (HOUSE / ".github/workflows/release.yml").read_text()
    assert "npx" not in text
    assert all("--require-hashes" in line for line in re.findall(r".*pip install.*", text))
    locked = json.loads((HOUSE / "vscode-client/package-lock.json").read_text())["packages"]
    for program in re.findall(r"npm exec --no -- (\w+)", text):
        assert any(program in package.get("bin", {}) for package in locked.values())
