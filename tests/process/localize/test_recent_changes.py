"""What was touched since the last commit, asked of a real git."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.spec import Region
from greenloop.localize.recent_changes import find_ages, find_touched

TEXT = "def a():\n    x = 1\n    return x\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 3\n"
A, B, C = (
    Region(path="p/m.py", qualname=name, start=start, end=end)
    for name, start, end in [("a", 1, 3), ("b", 6, 7), ("c", 10, 11)]
)


def git(root: Path, *words: str, day: int = 20_000) -> None:
    date = f"{day * 86_400} +0000"
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
        cwd=root,
        check=True,
        capture_output=True,
        env={**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
    )


def commit(root: Path, text: str, *, day: int) -> None:
    (root / "p" / "m.py").write_text(text)
    git(root, "commit", "-qam", "x", day=day)


def ages(root: Path, text: str) -> dict[str, float]:
    return {region.qualname: age for region, age in find_ages(root, {"p/m.py": text}, [A, B, C]).items()}


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


def test_days_since_the_last_change_of_each_function(root):
    second = TEXT.replace("return 2", "return 4")
    third = second.replace("return 3", "return 5")
    commit(root, second, day=20_170)
    commit(root, third, day=20_200)
    assert ages(root, third) == {"b": 30.0, "c": 0.0}  # the first commit is too long ago


def test_lines_that_are_not_committed_have_no_age_and_shift_the_others(root):
    text = TEXT.replace("return x", "return 1 + x").replace("return 3", "return 5")
    commit(root, text, day=20_010)
    commit(root, text.replace("x = 1\n", "x = 2\n").replace("return 2", "return 4"), day=20_020)
    unsaved = text.replace("x = 1\n", "x = 3\n").replace("    return 2", "    y = 1\n    return 6")
    moved = [replace(B, end=B.end + 1), replace(C, start=C.start + 1, end=C.end + 1)]
    found = find_ages(root, {"p/m.py": unsaved}, [A, *moved])
    assert {region.qualname: age for region, age in found.items()} == {"a": 10.0, "c": 10.0}


def test_where_history_ends_nothing_is_known(root):
    """The lines of the first commit, or of that where a shallow clone begins, may be of any age."""
    assert ages(root, TEXT) == {}


def test_no_command_of_the_repository_is_executed(root):
    commit(root, TEXT.replace("return 2", "return 4"), day=20_010)
    (root.parent / ".gitattributes").write_text("*.py diff=evil\n")
    git(root, "config", "diff.evil.textconv", f"touch {root}/executed; cat")
    assert ages(root, TEXT.replace("return 2", "return 4")) == {"b": 0.0}
    assert not (root / "executed").exists()


def test_without_a_repository_or_a_file_nothing_has_an_age(tmp_path, root):
    assert find_ages(root, {"new.py": "def f(): ...\n"}, [A]) == {}
    assert ages(tmp_path.parent, TEXT) == {}


def test_the_time_for_git_is_limited(root):
    text = TEXT.replace("return 2", "return 4")
    commit(root, text, day=20_010)
    assert ages(root, text) == {"b": 0.0}
    assert find_ages(root, {"p/m.py": text}, [A, B, C], seconds=0.0) == {}
