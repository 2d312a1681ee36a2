"""Tuning from the command line, in the real sandbox, with a model that one template helps."""

from __future__ import annotations

import json

import pytest

from greenloop.cli.main import main
from greenloop.core.records.model import Reply, Role, Usage
from greenloop.models import roles
from greenloop.project import configuration, templates
from greenloop.project.settings import LadderSettings
from greenloop_lab.bench.tuning import ladder
from greenloop_lab.cli import bench_tuning

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(480)]

BETTER = "You write Python. Count twice. Answer with one Python code block."


def number_of(request) -> tuple[int, str]:
    text = "\n".join(message.content for message in request.messages)
    return next((n for n in range(20, 0, -1) if f"add{n}" in text), 0), text


class Model:
    """Rewrites as told; writes right code where the prompt says to count twice."""

    name = "helped"

    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, request, on_token):
        self.asked += 1
        number, text = number_of(request)
        if request.role is Role.PLANNER:
            answer = f"<template>\n{BETTER}\n</template>"
        else:
            is_right = self.is_right(request, text)
            answer = f"```python\ndef add{number}(n):\n    return n + {number if is_right else self.asked + 100}\n```"
        on_token(answer)
        return Reply(text=answer, usage=Usage(prompt_tokens=10), model=self.name)

    def is_right(self, _request, text):
        return "Count twice" in text

    def count_tokens(self, text):
        return len(text) // 4

    async def close(self):
        pass


class CoolModel(Model):
    """Writes right code at low temperatures that are not 0."""

    def is_right(self, request, _text):
        return 0 < request.temperature < 0.5


@pytest.fixture
def tune(tmp_path, monkeypatch, bare_python):
    """Tunes what the words say, with twelve tasks and this model."""
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    rows = [
        {
            "prompt": f"def add{n}(n):\n    'Adds {n}.'\n",
            "entry_point": f"add{n}",
            "test": f"assert add{n}(1) == {n + 1}",
        }
        for n in range(1, 13)
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def run(model, *words):
        monkeypatch.setattr(roles, "open_model", lambda name, settings, keys=None: model)
        tail = ["--model", "ollama/helped", "--sandbox", "bubblewrap", "--set", f"interpreter={bare_python}"]
        return main(["bench", "tune", *words, "--tasks", "file:tasks.jsonl", *tail])

    return run


def test_a_better_template_is_saved_and_can_be_undone(tune, capsys):
    model = Model()
    words = ["plain:system", "--rounds", "1", "--set", "attempts=1"]
    before = templates.preset_templates("plain")["system"]
    assert tune(model, *words) == 0
    out, err = capsys.readouterr()
    assert "round 1 of 1: 6 of 6 (best so far 0)" in err
    assert "6 of 6 tasks are solved only with it, and 0 only without it (exact McNemar p = 0.0312)" in out
    assert templates.preset_templates("plain")["system"] == f"{BETTER}\n"
    asked = model.asked
    assert tune(model, *words, "--undo") == 0
    assert "was removed; the built-in version is used again." in capsys.readouterr().out
    assert templates.preset_templates("plain")["system"] == before
    assert tune(model, *words) == 0  # everything is recorded
    assert model.asked == asked


def test_better_numbers_of_the_ladder_are_saved_and_hold_from_then_on(tune, monkeypatch, capsys):
    class Sampler:
        def __init__(self, _seed) -> None:
            self.choices = [ladder.USUAL, {**ladder.USUAL, "heat": "cool"}]

        def ask(self):
            return self.choices.pop(0)

        def tell(self, solved):
            pass

    monkeypatch.setattr(bench_tuning, "OptunaSampler", Sampler)
    words = ["default", "--settings", "--rounds", "2", "--set", "attempts=2", "--set", "spec.design=never"]
    assert tune(CoolModel(), *words) == 0
    out, err = capsys.readouterr()
    assert "round 1 of 2: 0 (best so far 0)" in err
    assert "round 2 of 2: 6 (best so far 6)" in err
    assert "ladder.temperatures = [0.2, 0.4, 0.6, 0.8]" in out
    assert configuration.load(None)[0].ladder.temperatures == [0.2, 0.4, 0.6, 0.8]
    assert tune(CoolModel(), *words, "--undo") == 0
    assert configuration.load(None)[0].ladder == LadderSettings()
