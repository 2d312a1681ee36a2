"""`greenloop model`."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from fake_engine import CASE, solved, unsolved
from fixed_machine import FixedMachine
from greenloop.cli.main import main
from greenloop.core.errors import ModelError
from greenloop.core.records.outcome import StopReason
from greenloop.engine.history.store import History
from greenloop.plugins.embedded import catalogue
from greenloop.plugins.embedded.gpus import Gpu
from tiny_gguf import QWEN, make_gguf


class Download:
    """In place of a download: `asked` has the (model, source) of each, `error` ends it."""

    def __init__(self):
        self.asked, self.error = [], None

    async def pull(self, progress, *, model, source):
        self.asked.append((model.name, source))
        if self.error is not None:
            raise self.error
        for done in (0, 500, 1000):
            progress(done * 1_000_000, 1_000_000_000)
        return Path("/there")


@pytest.fixture
def download(project, monkeypatch):
    made = Download()
    monkeypatch.setattr("greenloop.plugins.embedded.weights.pull", made.pull)
    return made


def test_pull_tells_how_far_it_is(download, capsys):
    assert main(["model", "pull"]) == 0
    captured = capsys.readouterr()
    assert "500 of 1000 MB" in captured.err
    assert captured.out == "/there is there and its hash is correct.\n"
    assert download.asked == [("qwen2.5-coder-1.5b", None)]


@pytest.mark.parametrize(("error", "code"), [(ModelError("no", remedy="r"), 3), (asyncio.CancelledError(), 130)])
def test_a_pull_that_ends_early(download, error, code):
    download.error = error
    assert main(["model", "pull"]) == code


def test_a_copy_of_the_model_is_taken(download):
    assert main(["model", "pull", "--from", "stick/model.gguf"]) == 0
    assert download.asked == [("qwen2.5-coder-1.5b", Path("stick/model.gguf"))]


def test_the_list_says_what_each_model_solved(machine, fake, capsys):
    main(["fix", CASE])
    fake.result = unsolved()
    main(["fix", CASE])
    fake.result = unsolved(StopReason.CANCELLED)
    main(["fix", CASE])
    capsys.readouterr()
    assert main(["model", "list"]) == 0
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if "of your history" in line]
    assert line.endswith(": 1 of 2 runs of your history solved and verified")


def table(out: str) -> dict[str, str]:
    """The rows of the list, by model."""
    lines = out.splitlines()
    return {line.split()[0]: line for line in lines[1 : lines.index(next(x for x in lines if x.startswith("use: ")))]}


def test_the_list_shows_the_whole_catalogue(machine, project, on_machine, capsys):
    with History.open() as history:
        for number in range(7):
            run = history.start_run(project, CASE, preset="plain", model="local", sandbox="bubblewrap")
            history.finish_run(run, solved(project) if number < 5 else unsolved())
    on_machine(FixedMachine(memory=8 * 10**9, cores=2))
    assert main(["model", "list"]) == 0
    out = capsys.readouterr().out
    rows = table(out)
    default = catalogue.DEFAULT
    assert list(rows) == [model.name for model in catalogue.read_catalogue()]
    assert rows[default].split() == [default, "1.1", "GB", "1.7", "GB", "Apache-2.0", "yes", "5", "of", "7"]
    assert "Qwen Research" in rows["qwen2.5-coder-3b"]
    assert "5.4 GB" in rows["qwen2.5-coder-7b"]
    assert rows["seed-coder-8b"].split()[1:4] == ["?", "?", "MIT"]
    assert all(row.endswith("not tested") for name, row in rows.items() if name != default)
    assert "this machine: 8.0 GB of free memory, 2 cores, no GPU that the engine can use\n" in out
    assert f"recommended: {default}\n" in out
    assert "of your history" not in out


def test_the_list_says_once_that_layers_cannot_go_to_a_gpu(machine, on_machine, capsys):
    assert main(["model", "list"]) == 0
    assert "no effect" not in capsys.readouterr().out
    assert main(["model", "list", "--set", "embedded.gpu=9"]) == 0
    assert (
        capsys.readouterr().out.count("embedded.gpu: 9 has no effect: the engine was built without a GPU backend") == 1
    )
    on_machine(FixedMachine(gpus=(Gpu(name="a \x1b[31mGPU", free=8 * 10**9),)))
    assert main(["model", "list"]) == 0
    out = capsys.readouterr().out
    assert "as many layers as fit of the embedded model on a" in out
    assert "\x1b" not in out


def test_another_model_is_pulled_by_its_name(download, capsys):
    assert main(["model", "pull", "local/qwen2.5-coder-7b"]) == 0
    assert main(["model", "pull", "qwen2.5-coder-7b"]) == 0
    assert download.asked == [("qwen2.5-coder-7b", None)] * 2
    assert 'Use it with --model local/qwen2.5-coder-7b, or with the setting model = "local' in capsys.readouterr().out


def test_an_unknown_name_is_told(download, capsys):
    assert main(["model", "pull", "qwen2.5-coder-7"]) == 3
    assert "Did you mean qwen2.5-coder-7b?" in capsys.readouterr().err
    assert download.asked == []


def test_a_license_that_forbids_some_use_has_to_be_accepted(download, capsys):
    assert main(["model", "pull", "qwen2.5-coder-3b"]) == 2
    err = capsys.readouterr().err
    assert "has the Qwen Research license: for research and other non-commercial use only" in err
    assert "--accept-license" in err
    assert download.asked == []
    assert main(["model", "pull", "qwen2.5-coder-3b", "--accept-license"]) == 0
    assert "non-commercial" in capsys.readouterr().err
    assert download.asked == [("qwen2.5-coder-3b", None)]


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("no", 2), ("", 2)])
def test_on_a_terminal_the_license_is_asked_about(download, keyboard, capsys, answer, code):
    keyboard.lines.append(answer)
    assert main(["model", "pull", "qwen2.5-coder-3b"]) == code
    assert "non-commercial use only" in capsys.readouterr().err
    assert len(download.asked) == (code == 0)


def test_a_model_of_ones_own_is_added(project, tmp_path, capsys, monkeypatch, on_machine):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    on_machine(FixedMachine())
    source = tmp_path / "some.gguf"
    source.write_bytes(make_gguf({**QWEN, "tokenizer.ggml.tokens": ["a"]}))
    assert main(["model", "pull", "--from", str(source), "--as", "mine"]) == 0
    out = capsys.readouterr().out
    assert "own-mine.gguf is there and its SHA-256 is recorded." in out
    assert "asked for whole answers only" in out
    assert "--model local/mine" in out
    assert main(["model", "list"]) == 0
    assert table(capsys.readouterr().out)["mine"].split()[-3:] == ["yes", "your", "own"]
    assert main(["model", "status", "--model", "local/mine"]) == 0
    assert "own-mine.gguf" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--as", "mine"], ["qwen2.5-coder-7b", "--from", "f", "--as", "mine"]])
def test_a_name_of_ones_own_needs_a_file_and_nothing_else(download, capsys, words):
    assert main(["model", "pull", *words]) == 2
    assert "it needs --from and takes no other name" in capsys.readouterr().err


def test_the_chosen_models_status_is_shown(machine, capsys):
    shutil.rmtree(machine["weights"])
    assert main(["model", "status", "--model", "local/qwen2.5-coder-7b"]) == 3
    assert "not downloaded; run `greenloop model pull qwen2.5-coder-7b`" in capsys.readouterr().out


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
