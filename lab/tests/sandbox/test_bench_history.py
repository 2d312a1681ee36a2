"""Tasks of a small repository's own history, and the oracle on them."""

from __future__ import annotations

import pytest

from git_program import git
from greenloop.core.errors import UsageError
from greenloop.project import configuration
from greenloop_lab.bench import plans
from greenloop_lab.bench.history import commits as history
from greenloop_lab.bench.history import records as history_records
from greenloop_lab.bench.history.commits import HistoryRequest
from greenloop_lab.bench.run import Experiment, run

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

WORDS = '''
def split(text):
    """The words of a text, in small letters."""
    return [clean(word) for word in text.split(" ")]


def clean(word):
    return word.strip(".,")


def count(words):
    return len(words)
'''
TESTS = """
from words import count, split


def test_split():
    assert split("One, two") == ["One", "two"]


def test_count():
    assert count(["a"]) == 1
"""
FIXED_TEST = """

def test_small_letters():
    assert split("One") == ["one"]
"""


@pytest.fixture
def repository(lay, tmp_path):
    """Commits of every kind: without tests, a fix, a test of code that is right, a missing package."""
    root = tmp_path / "words"
    module, tests = "src/words.py", "tests/test_words.py"
    listed = WORDS.replace("len(words)", "len(list(words))")
    small = listed.replace('.strip(".,")', '.strip(".,").lower()')
    now = TESTS.replace('["One", "two"]', '["one", "two"]') + FIXED_TEST
    states = {
        "begin": {module: WORDS, tests: TESTS},
        "no test": {module: listed},
        "fix": {module: small, tests: now},
        "a package": {module: small.replace("strip", "rstrip"), "tests/test_more.py": "import absent_package\n"},
        "right already": {module: small, tests: now.replace("test_count", "test_length")},
    }
    git_ids = {}
    for message, files in states.items():
        lay(root, files)
        if message == "begin":
            git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "commit", "-qm", message)
        git_ids[message] = git(root, "rev-parse", "HEAD")
    return root, git_ids


async def test_a_fix_of_the_history_is_a_task_that_the_oracle_solves(repository, tmp_path, monkeypatch, bare_python):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root, ids = repository
    table = {"interpreter": str(bare_python), "sandbox.kind": "bubblewrap"}
    settings, _ = configuration.load(root, command_line=table)
    heard: list[str] = []
    request = HistoryRequest(count=5, records=tmp_path / "commits.jsonl", report_status=heard.append)
    state = git(root, "status", "--porcelain", "--ignored")
    (task,) = await history.from_history(root, settings, request)

    assert (task.commit, task.kind) == (ids["fix"], "history, one function")
    assert task.target == "tests/test_words.py::test_split"
    assert task.cases[:2] == ("tests/test_words.py::test_split", "tests/test_words.py::test_small_letters")
    assert "tests/test_words.py::test_count" in task.cases
    assert task.functions == ("src/words.py::clean",)
    assert any("absent_package" in line and ids["a package"][:12] in line for line in heard)
    assert f"  1 {history_records.PASSES}" in heard

    again: list[str] = []
    (same,) = await history.from_history(
        root, settings, HistoryRequest(count=5, records=tmp_path / "commits.jsonl", report_status=again.append)
    )
    assert same.digest == task.digest
    assert again == heard[-len(again) :], "the second search only reads what the first one tried"

    experiment = Experiment(
        tasks=[task],
        arms=[plans.parse_arm("default")],
        out=tmp_path / "out.jsonl",
        answers=tmp_path / "answers.jsonl",
        settings=table | {"model": "oracle"},
        history=tmp_path / "history.sqlite3",
    )
    (done,) = await run(experiment, heard.append)
    assert (done.run["asked_right"], done.run["right"], done.run["verified"]) == (True, True, "verified")
    assert git(root, "status", "--porcelain", "--ignored") == state


async def test_a_history_without_a_task_says_so(repository, bare_python):
    root, ids = repository
    settings, _ = configuration.load(root, command_line={"interpreter": str(bare_python), "sandbox.kind": "bubblewrap"})
    revisions = f"{ids['a package']}..HEAD"
    with pytest.raises(UsageError, match="None of the 1 commits"):
        await history.from_history(root, settings, HistoryRequest(count=1, revisions=revisions))


PARAMETERS = """
import pytest

from words import count


@pytest.mark.parametrize("text", ["\\x1b[1m", "red"])
def test_count(text):
    assert count(text) == {"red": 0}.get(text, 5)
"""


async def test_where_a_case_stays_red_only_the_one_that_is_mended_is_the_target(lay, tmp_path, bare_python):
    root = tmp_path / "words"
    for text in (WORDS, WORDS.replace("len(words)", "len(words) + 1")):
        lay(root, {"words.py": text, "test_words.py": PARAMETERS + f"# {len(text)}\n"})
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "a change")
    settings, _ = configuration.load(root, command_line={"interpreter": str(bare_python), "sandbox.kind": "bubblewrap"})
    (task,) = await history.from_history(root, settings, HistoryRequest(count=1))
    assert task.target == r"test_words.py::test_count[\x1b[1m]"
    assert task.shown == (task.target,)
    experiment = Experiment(
        tasks=[task],
        arms=[plans.parse_arm("default")],
        out=tmp_path / "out.jsonl",
        answers=tmp_path / "answers.jsonl",
        settings={"interpreter": str(bare_python), "sandbox.kind": "bubblewrap", "model": "oracle"},
        history=tmp_path / "history.sqlite3",
    )
    (done,) = await run(experiment, print)
    assert done.run["right"], done.run["message"]
