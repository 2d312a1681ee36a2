"""A history of fifty thousand commits with binary files: only what was asked for is read."""

from __future__ import annotations

import subprocess
from itertools import chain
from pathlib import Path
from time import process_time

import pytest

from git_program import git
from greenloop.project.revisions.git import Repository
from greenloop_lab.bench.history import git_history

pytestmark = pytest.mark.timeout(600)  # writing them takes long on a busy machine

COMMITS = 50_000
BINARY = bytes(range(256))


def write_history(root: Path) -> None:
    """Every commit changes the code; every hundredth adds a binary file, every thousandth a submodule."""
    rows: list[bytes] = []
    for number in range(COMMITS):
        text = b"def f():\n    return %d\n" % number
        rows.append(b"commit refs/heads/main\ncommitter a <a@b> %d +0000\ndata 1\nx\n" % (1_000_000_000 + number))
        rows.append(b"M 100644 inline m.py\ndata %d\n%s\n" % (len(text), text))
        if number % 100 == 0:
            rows.append(b"M 100644 inline data.bin\ndata %d\n%s\n" % (len(BINARY) + 1, BINARY + bytes([number % 256])))
        if number % 1000 == 0:
            rows.append(b"M 160000 %040x library\n" % (number + 1))
    git(root, "init", "-q", "-b", "main")
    program = ["git", "fast-import", "--quiet", "--force"]
    subprocess.run(program, cwd=root, input=b"".join(chain(rows, [b"done\n"])), check=True, capture_output=True)


def test_as_many_commits_are_read_as_were_asked_for(tmp_path):
    write_history(tmp_path)
    repository = Repository.find(tmp_path)
    began = process_time()
    commits = git_history.read_commits(repository, "", most=1000)
    assert process_time() - began < 2.0
    assert len(commits) == 1000
    assert {change.path for commit in commits for change in commit.changes} == {"m.py", "data.bin"}
    older = git_history.read_commits(repository, "HEAD~40000..HEAD~39990", most=1000)
    assert len(older) == 10
    blobs = git_history.blobs(repository, [change for commit in commits[-101:] for change in commit.changes])
    assert any(data.startswith(BINARY) for data in blobs.values())
