"""What pipelines of other projects use: it is well-formed, and docs/integrations.md tells the truth about it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from greenloop.cli.main import _parser
from greenloop.plugins.pipelines.reports.annotations import RULES

HOUSE = Path(__file__).resolve().parents[2]
PAGE = (HOUSE / "docs/integrations.md").read_text()
ACTION = yaml.safe_load((HOUSE / "ci/github/action.yml").read_text())
HOOKS = yaml.safe_load((HOUSE / ".pre-commit-hooks.yaml").read_text())


@pytest.mark.needs("precommit")
def test_the_manifest_is_one_that_pre_commit_reads():
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(HOUSE / ".pre-commit-hooks.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_hook_is_a_command_line_that_exists():
    for hook in HOOKS:
        program, *words = hook["entry"].split()
        assert program == "greenloop"
        _parser(words, {}).parse_args(words)


@pytest.mark.parametrize(
    ("path", "matches"),
    [
        ("m.py", True),
        ("src/contest.py", True),
        ("src/testing/m.py", True),
        ("tests/test_m.py", False),
        ("a/test/helper.py", False),
        ("conftest.py", False),
        ("src/test_m.py", False),
        ("src/m_test.py", False),
        ("pyproject.toml", False),
    ],
)
def test_the_hook_runs_for_code_only(path, matches):
    (hook,) = HOOKS
    assert bool(re.search(hook["files"], path) and not re.search(hook["exclude"], path)) is matches


def test_the_page_names_every_rule():
    rows = re.findall(r"^\| `([a-z-]+)` \| (?:error|warning|note) \|", PAGE, re.MULTILINE)
    assert set(rows) == set(RULES)


def test_the_page_names_every_input_and_output_of_the_action():
    for name in (*ACTION["inputs"], *ACTION["outputs"]):
        assert f"`{name}`" in PAGE


def test_no_value_of_others_is_part_of_a_script():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
