"""`greenloop model`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fake_engine import CASE, unsolved
from greenloop.cli.main import main
from greenloop.core.errors import ModelError
from greenloop.core.records.outcome import StopReason


def test_pull_tells_how_far_it_is(project, monkeypatch, capsys):
    async def pull(progress, *, source):
        assert source is None
        for done in (0, 500, 1000):
            progress(done * 1_000_000, 1_000_000_000)
        return Path("/there")

    monkeypatch.setattr("greenloop.models.embedded.weights.pull", pull)
    assert main(["model", "pull"]) == 0
    captured = capsys.readouterr()
    assert "500 of 1000 MB" in captured.err
    assert "/there" in captured.out


@pytest.mark.parametrize(("error", "code"), [(ModelError("no", remedy="r"), 3), (asyncio.CancelledError(), 130)])
def test_a_pull_that_ends_early(project, monkeypatch, capsys, error, code):
    async def pull(_progress, *, source):
        raise error

    monkeypatch.setattr("greenloop.models.embedded.weights.pull", pull)
    assert main(["model", "pull"]) == code


def test_a_copy_of_the_model_is_taken(project, monkeypatch, capsys):
    asked = []

    async def pull(_progress, *, source):
        asked.append(source)
        return Path("/there")

    monkeypatch.setattr("greenloop.models.embedded.weights.pull", pull)
    assert main(["model", "pull", "--from", "stick/model.gguf"]) == 0
    assert asked == [Path("stick/model.gguf")]


def test_the_list_says_what_each_model_solved(machine, fake, capsys):
    main(["fix", CASE])
    fake.result = unsolved()
    main(["fix", CASE])
    fake.result = unsolved(StopReason.CANCELLED)
    main(["fix", CASE])
    capsys.readouterr()
    assert main(["model", "list"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "of your history" in line]
    assert line.endswith(": 1 of 2 runs of your history solved and verified")


def test_status_stop_and_list(machine, capsys):
    assert main(["model", "status"]) == 0
    assert "not running" in capsys.readouterr().out
    assert main(["model", "stop"]) == 0
    machine["ollama"] = ["small:1b"]
    assert main(["model", "list"]) == 0
    out = capsys.readouterr().out
    assert "ollama/small:1b" in out
    assert "default: local" in out
    assert main(["model"]) == 2
