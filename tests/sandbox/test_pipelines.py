"""The action, the template and the hook, each run by a stand-in of its runner; pre-commit is the real one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import yaml

from git_program import git
from pipelines import HOUSE, SERVER, environment, package, run_action, run_gitlab_job
from project_files import write_files
from sarif_schema import SARIF_SCHEMA

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

FILES = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "m.py": "def double(x):\n    return x + 1\n",
    "tests/test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n",
    ".gitignore": "__pycache__\ngreenloop.xml\ngreenloop.sarif\n",
}
RIGHT = "def double(x):\n    return x * 2\n"
CASE = "tests/test_m.py::test_double"


@pytest.fixture
def work(tmp_path, monkeypatch) -> Path:
    """A repository whose workspace is a folder of it, where a test fails in the only commit."""
    root = tmp_path / "a repository" / "sub folder"
    write_files(root, FILES)
    git(root.parent, "init", "-q", "-b", "main")
    git(root.parent, "add", "-A")
    git(root.parent, "commit", "-qm", "x")
    monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")
    return root


@pytest.fixture
def action(work, tmp_path):
    def run(context, **inputs: str):
        given = {"package": str(package(tmp_path / "wheel")), "working-directory": "sub folder"}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        return run_action(HOUSE / "ci/github/action.yml", work.parent, tmp_path / "temp", inputs=given, context=context)

    return run


def test_the_action_passes_an_honest_change(work, action):
    base = git(work, "rev-parse", "HEAD")
    (work / "m.py").write_text(RIGHT)
    git(work, "commit", "-qam", "right")
    ran = action({"event": {"pull_request": {"base": {"sha": base}}}}, targets=f"{CASE}\n")
    assert (ran.code, ran.outputs["verified"]) == (0, "true"), ran.output
    assert int(ET.parse(ran.outputs["junit"]).getroot()[0].get("failures", "1")) == 0


def test_the_action_fails_a_change_that_does_not_pass_and_shows_where(work, action):
    base = git(work, "rev-parse", "HEAD")
    (work / "m.py").write_text("import os\n\nos._exit(0)\n")
    git(work, "commit", "-qam", "wrong")
    ran = action({"event": {"before": base}})
    assert (ran.code, ran.outputs["verified"]) == (1, "false"), ran.output
    assert "\n::error title=greenloop tampered" in ran.output
    value = json.loads(Path(ran.outputs["sarif"]).read_text())
    jsonschema.validate(value, SARIF_SCHEMA)
    assert value["runs"][0]["results"][0]["ruleId"] == "tampered"


def test_the_action_takes_known_failing_tests_and_the_first_push_of_a_branch(work, action):
    (work / "tests/test_n.py").write_text("def test_n():\n    pass\n")
    (work / "known.txt").write_text(f"{CASE}\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "n")
    ran = action({"event": {"before": "0" * 40}}, known_failing="known.txt")
    assert ran.code == 0, ran.output


def test_the_template_of_gitlab(work, tmp_path):
    base = git(work, "rev-parse", "HEAD")
    (work / "m.py").write_text(RIGHT)
    git(work, "commit", "-qam", "right")
    variables = {
        "GREENLOOP_FOLDER": str(tmp_path / "green loop"),
        "GREENLOOP_PACKAGE": str(package(tmp_path / "wheel")),
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
    }
    template = HOUSE / "ci/gitlab.yml"
    ran = run_gitlab_job(template, ".greenloop-verify", work, **variables)
    assert ran.code == 0, ran.output
    reports = yaml.safe_load(template.read_text())[".greenloop-verify"]["artifacts"]
    assert ET.parse(work / reports["reports"]["junit"]).getroot()[0].get("failures") == "0"
    assert all((work / name).exists() for name in reports["paths"])
    git(work, "revert", "--no-edit", "HEAD")
    variables["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = ""
    ran = run_gitlab_job(template, ".greenloop-verify", work, CI_COMMIT_BEFORE_SHA="0" * 40, **variables)
    assert ran.code == 1, ran.output


# -- pre-commit -----------------------------------------------------------------------------------------------------


@pytest.fixture
def commit(work, tmp_path):
    """`commit(*words)`: what `git commit` says with the hook of this repository installed by pre-commit."""
    top, hooks = work.parent, tmp_path / "hooks"
    hooks.mkdir()
    # pre-commit would build an environment from the network; the program is this greenloop instead.
    manifest = yaml.safe_load((HOUSE / ".pre-commit-hooks.yaml").read_text())
    program = tmp_path / "bin/greenloop"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nPYTHONPATH='{SERVER}' exec '{sys.executable}' -m greenloop \"$@\"\n")
    program.chmod(0o755)
    (hooks / ".pre-commit-hooks.yaml").write_text(yaml.safe_dump([{**each, "language": "system"} for each in manifest]))
    git(hooks, "init", "-q")
    git(hooks, "add", "-A")
    git(hooks, "commit", "-qm", "hooks")
    hook = {"id": "greenloop-verify", "args": ["--root", "sub folder"]}
    repos = [{"repo": str(hooks), "rev": git(hooks, "rev-parse", "HEAD"), "hooks": [hook]}]
    (top / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": repos}))
    environ = environment(PRE_COMMIT_HOME=str(tmp_path / "pre-commit"))
    environ["PATH"] = f"{program.parent}:{environ['PATH']}"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=top, env=environ, capture_output=True, text=True, check=False)

    installed = run("pre-commit", "install", "--install-hooks")
    assert installed.returncode == 0, installed.stdout + installed.stderr
    git(top, "add", ".pre-commit-config.yaml")

    def commit(*words: str) -> subprocess.CompletedProcess[str]:
        return run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "y", *words)

    return commit


@pytest.mark.needs("precommit")
def test_the_hook_stops_a_commit_that_fails_and_passes_the_right_one(work, commit):
    (work / "m.py").write_text("def double(x):\n    return x\n")
    git(work, "add", "-A")
    (work / "m.py").write_text(RIGHT)  # not staged, so it does not count
    stopped = commit()
    assert stopped.returncode == 1, stopped.stdout + stopped.stderr
    assert "still fails, as it did in HEAD" in stopped.stdout + stopped.stderr
    assert (work / "m.py").read_text() == RIGHT
    git(work, "add", "-A")
    passed = commit()
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert git(work, "log", "--format=%s").splitlines()[0] == "y"


@pytest.mark.needs("precommit")
def test_the_hook_reads_the_index_of_a_commit_of_one_file(work, commit):
    """`git commit FILE` makes an index of its own; the staged rest is not part of that commit."""
    (work / "n.py").write_text("broken (\n")
    (work / "m.py").write_text("import n\n\n\n" + RIGHT)
    git(work, "add", "-A")
    stopped = commit("sub folder/m.py")
    assert stopped.returncode == 1, stopped.stdout + stopped.stderr
    (work / "m.py").write_text(RIGHT)
    passed = commit("sub folder/m.py")
    assert passed.returncode == 0, passed.stdout + passed.stderr


@pytest.mark.needs("precommit")
def test_the_hook_leaves_commits_without_code_alone(work, commit):
    (work / "tests/test_n.py").write_text("def test_n():\n    assert 0\n")
    (work / "readme.txt").write_text("x\n")
    git(work, "add", "-A")
    done = commit()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(no files to check)" in done.stdout + done.stderr
