"""Where a history comes from."""

from __future__ import annotations

import pytest

from greenloop.core.errors import UsageError
from greenloop_lab.bench.history import commits as history


@pytest.mark.parametrize(
    ("name", "folder", "revisions"),
    [
        ("repo", "repo", ""),
        ("repo..v1..v2", "repo", "v1..v2"),
        ("repo..main", "repo", "main"),
        ("repo..v1..", "repo", "v1.."),
        ("a..b", "a..b", ""),
        ("a..b..v1", "a..b", "v1"),
        ("repo/../repo..v1..v2", "repo/../repo", "v1..v2"),
    ],
)
def test_the_range_follows_the_folder(tmp_path, monkeypatch, name, folder, revisions):
    monkeypatch.chdir(tmp_path)
    for each in ("repo", "a..b"):
        (tmp_path / each).mkdir()
    source, found = history.split_source(name)
    assert (str(source), found) == (folder, revisions)


def test_a_folder_that_does_not_exist_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no folder absent..v1"):
        history.split_source("absent..v1")
