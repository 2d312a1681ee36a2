"""The words of `greenloop improve`."""

from __future__ import annotations

import pytest

from greenloop.cli.main import main


@pytest.fixture
def complaint(tmp_path, monkeypatch, capsys):
    """What the command says on standard error, for these words."""
    (tmp_path / "m.py").write_text("def f(n: int):\n    return n\n")
    monkeypatch.chdir(tmp_path)

    def complaint(*words: str) -> str:
        assert main(["improve", *words]) != 0
        return capsys.readouterr().err

    return complaint


def test_a_target_is_needed(complaint):
    assert "the following arguments are required: TARGET" in complaint()


def test_the_goals_are_listed(complaint):
    assert "choose from 'time', 'memory', 'limits', 'comment'" in complaint("m.py::f", "--for", "beauty")


def test_a_missing_file_of_calls_is_named(complaint):
    assert "The file of --inputs cannot be read: [Errno 2]" in complaint("m.py::f", "--inputs", "calls.txt")


def test_an_empty_file_of_calls_is_named(complaint, tmp_path):
    (tmp_path / "calls.txt").write_text("\n")
    assert "calls.txt has no calls." in complaint("m.py::f", "--inputs", "calls.txt")


def test_calls_are_for_what_is_measured_or_compared(complaint, tmp_path):
    (tmp_path / "calls.txt").write_text("f(1)\n")
    assert "with a comment nothing is" in complaint("m.py::f", "--inputs", "calls.txt", "--comment", "shorter")
