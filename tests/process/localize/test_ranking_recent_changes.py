"""What was touched since the last commit, asked of a real git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from greenloop.core.records.spec import Region
from greenloop.localize.ranking import find_touched

TEXT = "def a():\n    x = 1\n    return x\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 3\n"
A, B, C = (
    Region(path="p/m.py", qualname=name, start=start, end=end)
    for name, start, end in [("a", 1, 3), ("b", 6, 7), ("c", 10, 11)]
)


def git(root: Path, *words: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
    subprocess.run(command, cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path) -> Path:
    (tmp_path / "work" / "p").mkdir(parents=True)
    (tmp_path / "work" / "p" / "m.py").write_text(TEXT)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x")
    return tmp_path / "work"  # a folder below the repository's


def touched(root: Path, text: str) -> set[str]:
    return {region.qualname for region in find_touched(root, {"p/m.py": text}, [A, B, C])}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (TEXT, set()),
        (TEXT.replace("\n", "\r\n"), set()),  # a checkout with other line ends
        (TEXT.replace("return 2", "return 4"), {"b"}),
        (TEXT.replace("    x = 1\n", ""), {"a"}),
    ],
)
def test_functions_with_other_lines_than_the_last_commit(root, text, names):
    assert touched(root, text) == names


def test_all_of_a_new_file_is_touched(root):
    region = Region(path="new.py", qualname="f", start=1, end=2)
    assert find_touched(root, {"new.py": "def f():\n    return 1\n"}, [region]) == {region}


def test_without_a_repository_or_a_commit_nothing_is(tmp_path):
    assert touched(tmp_path, TEXT) == set()
    git(tmp_path, "init", "-q")
    assert touched(tmp_path, TEXT) == set()
