"""`greenloop verify --staged` behind a real wall: the next commit counts, whatever else is on the disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from git_program import git
from greenloop.cli.main import main
from project_files import write_files

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

FILES = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "m.py": "def double(x):\n    return x + x\n",
    "tests/test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n",
    ".gitignore": "__pycache__\n_version.py\n",
}
OTHER = "from helper import twice\n\n\ndef double(x):\n    return twice(x)\n"
DOUBLE = "tests/test_m.py::test_double"


@pytest.fixture
def work(tmp_path, monkeypatch) -> Path:
    root = tmp_path / "a project"
    write_files(root, FILES)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    monkeypatch.chdir(root)
    monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")
    monkeypatch.delenv("GIT_INDEX_FILE", raising=False)
    return root


@pytest.fixture
def verify(work, capsys):
    def run(*words: str) -> tuple[int, dict]:
        code = main(["verify", "--staged", "--json", *words])
        return code, json.loads(capsys.readouterr().out)

    return run


def test_what_is_staged_passes_though_the_working_tree_does_not(work, verify):
    write_files(work, {"m.py": FILES["m.py"].replace("x + x", "2 * x")})
    git(work, "add", "-A")
    write_files(work, {"m.py": "broken (\n", "tests/test_m.py": "broken (\n"})
    code, found = verify()
    assert (code, found["state"]) == (0, "verified"), found["reason"]
    assert (work / "m.py").read_text() == "broken (\n"


@pytest.mark.story("a hook verifies what is staged")
def test_what_is_staged_fails_though_the_working_tree_passes(work, verify):
    write_files(work, {"m.py": FILES["m.py"].replace("x + x", "x")})
    git(work, "add", "-A")
    write_files(work, {"m.py": FILES["m.py"]})
    code, found = verify()
    assert (code, found["state"], found["failed"]) == (1, "failing", [DOUBLE])


def test_a_module_that_was_forgotten_is_missed(work, verify):
    write_files(work, {"m.py": OTHER, "helper.py": "def twice(x):\n    return 2 * x\n"})
    git(work, "add", "m.py")
    code, found = verify()
    assert (code, found["state"]) == (1, "failing"), found["reason"]
    git(work, "add", "helper.py")
    assert verify()[0] == 0


def test_a_module_that_is_deleted_only_in_the_index_is_missed(work, verify):
    write_files(work, {"m.py": OTHER, "helper.py": "def twice(x):\n    return 2 * x\n"})
    git(work, "add", "-A")
    git(work, "commit", "-qm", "y")
    git(work, "rm", "-q", "--cached", "helper.py")
    code, found = verify()
    assert (code, found["failed"]) == (1, [DOUBLE]), found["reason"]


def test_a_generated_module_is_named_and_can_be_kept(work, verify):
    write_files(work, {"m.py": "import _version\n" + FILES["m.py"], "_version.py": "V = 1\n"})
    git(work, "add", "-A")
    git(work, "commit", "-qm", "y")
    write_files(work, {"m.py": "import _version\n\n" + FILES["m.py"].replace("x + x", "2 * x")})
    git(work, "add", "-A")
    code, found = verify()
    assert (code, found["remedy"]) == (3, "If a build generates it, keep it: `--keep _version.py`."), found
    assert verify("--keep", "_version.py")[0] == 0


def test_a_staged_test_that_forces_a_pass_is_not_used(work, verify):
    hook = "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_pyfunc_call(pyfuncitem):\n    (yield).force_result(True)\n"
    write_files(work, {"m.py": FILES["m.py"].replace("x + x", "x"), "conftest.py": hook})
    git(work, "add", "-A")
    code, found = verify()
    assert (code, found["failed"], found["added_tests"]) == (1, [DOUBLE], ["conftest.py"])


def test_new_staged_tests_run_as_they_are_staged(work, verify):
    new = "from m import double\n\n\ndef test_new():\n    assert double(1) == {}\n"
    write_files(work, {"m.py": FILES["m.py"].replace("x + x", "2 * x"), "tests/test_new.py": new.format(2)})
    git(work, "add", "-A")
    write_files(work, {"tests/test_new.py": new.format(3), "tests/test_later.py": "def test_later():\n    assert 0\n"})
    code, found = verify()
    assert code == 0, found["reason"]
    assert [case["id"] for case in found["new_cases"]] == ["tests/test_new.py::test_new"]


def test_nothing_staged_is_nothing_to_verify(work, verify):
    write_files(work, {"m.py": "broken (\n"})
    code, found = verify()
    assert (code, found["verified"], found["state"]) == (0, False, "nothing_staged")


def test_a_past_run_has_no_index(work, verify):
    assert verify("run:1")[0] == 2
