"""Files of rows: as they come, complete or not at all."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from exported import export
from greenloop.core.errors import UsageError
from greenloop_lab.engine.history import row_files
from greenloop_lab.engine.history.learning import Wanted
from greenloop_lab.engine.history.row_files import check_file, package_command, write_lines, write_rows
from learning_runs import chain

SFT = Wanted(kind="sft").row


def test_a_file_has_one_object_a_line(tmp_path):
    rows = [{"a": "é\ud800\n"}, {"a": None}]
    assert write_rows(rows, SFT, tmp_path / "x.jsonl") == 2
    assert [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()] == rows


def test_rows_are_written_before_the_next_one_is_made():
    file, made = io.BytesIO(), []

    def rows():
        for number in range(3):
            made.append(file.getvalue().count(b"\n"))
            yield {"n": number}

    assert write_lines(rows(), file) == 3
    assert made == [0, 1, 2]


def test_no_row_is_no_file(tmp_path):
    assert write_rows([], SFT, tmp_path / "x.jsonl") == 0
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_completed_is_removed(tmp_path):
    def rows() -> Any:
        yield {"a": 1}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_rows(rows(), SFT, tmp_path / "x.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_a_sentence_and_leaves_nothing(tmp_path, monkeypatch):
    def full(_rows, _file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(row_files, "write_lines", full)
    with pytest.raises(UsageError, match="x.jsonl cannot be written: No space left on device"):
        write_rows([{}], SFT, tmp_path / "x.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_never_replaced(tmp_path):
    (tmp_path / "x.jsonl").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        check_file(tmp_path / "x.jsonl")
    with pytest.raises(UsageError, match="cannot be written: File exists"):
        write_rows([{}], SFT, tmp_path / "x.jsonl")
    assert (tmp_path / "x.jsonl").read_text() == "mine"


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(UsageError, match="There is no folder"):
        check_file(tmp_path / "no" / "x.jsonl")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(row_files, "find_spec", lambda _name: None)
    with pytest.raises(UsageError, match="Parquet needs pyarrow") as caught:
        check_file(tmp_path / "x.parquet")
    assert package_command("pyarrow") in caught.value.remedy
    assert "--out x.jsonl" in caught.value.remedy
    check_file(tmp_path / "x.jsonl")


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize("kind", ["trajectory", "sft", "turns", "pairs", "edits", "diffs", "negatives"])
def test_parquet_has_the_same_rows(tmp_path, kind):
    from pyarrow import parquet

    rows = export(tmp_path, kind, *[chain(messages=bool(number % 2)) for number in range(row_files.BATCH // 2 + 5)])
    path = tmp_path / "x.parquet"
    check_file(path)
    assert write_rows(rows, Wanted(kind=kind).row, path) == len(rows)
    assert parquet.read_table(path).to_pylist() == rows


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/c/uv/archive-v0/abc", "uvx --with pyarrow greenloop history export"),
        ("/home/u/.local/share/pipx/venvs/greenloop", "pipx inject greenloop pyarrow"),
        ("/home/u/project/.venv", f"{sys.executable} -m pip install pyarrow"),
    ],
)
def test_another_package_is_added_by_what_installed_greenloop(prefix, command):
    assert package_command("pyarrow", Path(prefix), ["history", "export"]) == command


def test_another_package_is_added_to_a_tool_of_uv(tmp_path):
    (tmp_path / "uv-receipt.toml").touch()
    assert package_command("pyarrow", tmp_path, []) == "uv tool install greenloop --with pyarrow"
