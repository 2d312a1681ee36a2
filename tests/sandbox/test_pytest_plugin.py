"""`pytest --refine` and `--refine-verify` in real sessions: they add, and never change what pytest itself says."""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

import greenloop
from project_files import write_files

pytestmark = [pytest.mark.timeout(240)]

SERVER = str(Path(greenloop.__file__).parents[1])
CODE = "def double(x):\n    return x + 1\n"
RIGHT = "def double(x):\n    return x * 2\n"
TESTS = {
    "test_m.py": (
        "import unittest\n\nfrom m import double\n\n\n"
        "def test_double():\n    assert double(5) == 10\n\n\n"
        "class TestCase(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(double(1), 2)\n"
    ),
    "test_n.py": "from m import double\n\n\ndef test_three():\n    assert double(3) == 6\n",
}
# The plugins beside these tests would take most of each session's time, and one of them writes to standard error.
QUIET = (
    "-q",
    *(word for name in ("anyio", "asyncio", "hypothesispytest", "pytest-lsp") for word in ("-p", f"no:{name}")),
)


@pytest.fixture
def work(tmp_path) -> Path:
    root = tmp_path / "a project"
    root.mkdir()
    write_files(root, {"m.py": CODE, **TESTS, "pytest.ini": "[pytest]\npythonpath = .\n"})
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(f"```python\n{RIGHT}```") + "\n" for _ in range(9)))
    return root


def environment(root: Path) -> dict[str, str]:
    homes = {f"XDG_{name}_HOME": str(root.parent / name.lower()) for name in ("STATE", "CONFIG")}
    chosen = {"SANDBOX_KIND": "bubblewrap", "MODEL": f"scripted:{root.parent / 'answers.jsonl'}", "PRESET": "plain"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GREENLOOP_", "PYTEST_"))}
    return {**kept, **homes, **{f"GREENLOOP_{name}": value for name, value in chosen.items()}, "PYTHONPATH": SERVER}


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", *QUIET, *words]
    return subprocess.run(
        command, cwd=root, env=environment(root), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def run_at_terminal(root: Path, answers: list[tuple[str, str]], *words: str) -> tuple[int, str]:
    """The exit code, and what is on the terminal; each answer is typed when its question is there."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(root)
        command = [sys.executable, "-m", "pytest", *QUIET, *words]
        os.execve(sys.executable, command, {**environment(root), "TERM": "dumb", "NO_COLOR": "1"})
    shown, position, waiting = "", 0, list(answers)
    while True:
        ready, _write, _error = select.select([terminal], [], [], 120)
        try:
            data = os.read(terminal, 65536) if ready else b""
        except OSError:
            data = b""
        if not data:
            break
        shown += data.decode("utf-8", "replace")
        while waiting and (found := shown.find(waiting[0][0], position)) >= 0:
            question, answer = waiting.pop(0)
            position = found + len(question)
            os.write(terminal, f"{answer}\n".encode())
    _child, status = os.waitpid(child, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown


def test_the_entry_point_is_installed_and_silent(work):
    """Fails where the environment was made before the entry point was: run scripts/setup again."""
    plain = run(work)
    assert plain.returncode == 1
    assert "greenloop" not in plain.stdout + plain.stderr
    assert "--refine-verify" in run(work, "--help").stdout
    without = run(work, "-p", "no:greenloop")

    def shown(done):
        return re.sub(r"in [\d.]+s", "", done.stdout)

    assert shown(without) == shown(plain)


def test_what_is_not_asked_for_is_not_loaded(work):
    write_files(
        work,
        {
            "conftest.py": "import sys\n\n\ndef pytest_unconfigure():\n    print([n for n in sys.modules if n.startswith('greenloop')])\n"
        },
    )
    packages = ("greenloop", "greenloop.plugins", "greenloop.plugins.pipelines")
    expected = {*packages, "greenloop.plugins.pipelines.pytest_plugin"}
    listed = run(work, "-s").stdout.strip().splitlines()[-1]
    assert {*ast.literal_eval(listed[listed.index("[") :])} - {"greenloop._version"} == expected


@pytest.mark.parametrize("words", [[], ["-x"], ["-n", "2"], ["-n", "2", "-x"], ["-s"], ["--capture=sys"]])
def test_without_a_terminal_the_command_lines_are_named_and_nothing_else_changes(work, words):
    plain, asked = run(work, *words), run(work, *words, "--refine")
    assert asked.returncode == plain.returncode
    assert "greenloop: no interactive terminal." in asked.stderr
    named = re.findall(r"^  greenloop fix (\S+)$", asked.stderr, re.MULTILINE)
    if words == ["-x"]:
        assert named == ["test_m.py::test_double"]
    elif "-x" not in words:
        assert sorted(named) == ["test_m.py::test_double", "test_n.py::test_three"]


def test_a_session_that_passes_says_nothing(work):
    write_files(work, {"m.py": RIGHT})
    asked = run(work, "--refine", "--refine=all")
    assert (asked.returncode, asked.stderr) == (0, "")


def test_the_option_takes_no_path_and_the_last_one_counts(work):
    asked = run(work, "--refine", "test_n.py")
    assert re.findall(r"^  greenloop fix (\S+)$", asked.stderr, re.MULTILINE) == ["test_n.py::test_three"]
    assert run(work, "--refine", "--refine-verify", "--refine=off").stderr == ""
    assert run(work, "--refine", "--collect-only").stderr == ""


@pytest.mark.story("pytest offers to refine what fails")
@pytest.mark.needs("bubblewrap")
def test_each_failure_is_offered_and_nothing_is_written_without_a_yes(work):
    code, shown = run_at_terminal(
        work,
        [("refine test_m.py::test_double?", "y"), ("Apply this change?", "n"), ("refine test_n.py::test_three?", "q")],
        "--refine",
    )
    assert code == 1
    assert "+    return x * 2" in shown
    assert (work / "m.py").read_text() == CODE


@pytest.mark.needs("bubblewrap")
def test_the_rest_is_refined_by_one_answer_and_what_is_permitted_is_written(work):
    code, shown = run_at_terminal(
        work,
        [("refine test_m.py::test_double?", "n"), ("refine test_n.py", "a"), ("Apply this change?", "y")],
        "--refine",
    )
    assert code == 1
    assert (work / "m.py").read_text() == RIGHT, shown


@pytest.mark.needs("bubblewrap")
def test_all_is_bounded_and_without_a_terminal_writes_nothing(work):
    done = run(work, "--refine=all", "-n", "2")
    assert done.returncode == 1
    assert done.stdout.count("Verified in bubblewrap") == 2, done.stdout + done.stderr
    assert (work / "m.py").read_text() == CODE
    done = run(work, "--refine=all", "--refine-seconds", "0.5")
    assert "the 0.5 s of --refine-seconds are over; 2 tests left" in done.stderr


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("words", [[], ["-n", "2"], ["--lf"]])
def test_outcomes_are_compared_by_id(work, words):
    done = run(work, "--refine-verify", *words)
    assert done.returncode == 1
    assert "greenloop: 3 of 3 outcomes are the same in the sandbox" in done.stderr, done.stderr


@pytest.mark.needs("bubblewrap")
def test_what_differs_is_named(work, tmp_path):
    secret = tmp_path / "elsewhere.txt"
    secret.write_text("x")
    write_files(
        work,
        {
            "test_o.py": f"import os\n\n\ndef test_host():\n    assert os.path.exists({str(secret)!r})\n\n\n"
            "def test_skip():\n    import pytest\n    pytest.skip('no')\n"
        },
    )
    done = run(work, "--refine-verify", "test_o.py")
    assert done.returncode == 0
    assert "greenloop: 1 of 2 outcomes are the same in the sandbox:" in done.stderr
    assert "  test_o.py::test_host: passed here, failed in the sandbox: AssertionError" in done.stderr


@pytest.mark.needs("bubblewrap")
def test_options_in_the_configuration_do_nothing_in_the_sandbox(work):
    write_files(
        work, {"pytest.ini": "[pytest]\npythonpath = .\naddopts = --refine-verify --refine=all --refine-seconds=60\n"}
    )
    done = run(work)
    assert done.returncode == 1
    assert done.stderr.count("greenloop: 3 of 3 outcomes are the same in the sandbox") == 1, done.stderr
    assert done.stdout.count("Verified in bubblewrap") == 2, done.stdout + done.stderr
