"""Tuning from the command line, in the real sandbox, with a model that one template helps."""

from __future__ import annotations

import json

import pytest

from greenloop.cli.main import main
from greenloop.core.records.model import Reply, Role
from greenloop.core.records.usage import Usage
from greenloop.models import roles
from greenloop.project import templates

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

BETTER = "You write Python. Count twice. Answer with one Python code block."


class Model:
    """Rewrites as told; writes right code where the prompt says to count twice."""

    name = "helped"

    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, request, on_token):
        self.asked += 1
        text = "\n".join(message.content for message in request.messages)
        if request.role is Role.PLANNER:
            answer = f"<template>\n{BETTER}\n</template>"
        else:
            number = next(n for n in range(20, 0, -1) if f"add{n}" in text)
            answer = f"```python\ndef add{number}(n):\n    return n + {number if 'Count twice' in text else 0}\n```"
        on_token(answer)
        return Reply(text=answer, usage=Usage(prompt_tokens=10), model=self.name)

    def count_tokens(self, text):
        return len(text) // 4

    async def close(self):
        pass


@pytest.mark.story("bench tune saves what another half confirms")
def test_a_better_template_is_saved_and_can_be_undone(tmp_path, monkeypatch, bare_python, capsys):
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    model = Model()
    monkeypatch.setattr(roles, "open_model", lambda name, settings, keys=None: model)
    rows = [
        {
            "prompt": f"def add{n}(n):\n    'Adds {n}.'\n",
            "entry_point": f"add{n}",
            "test": f"assert add{n}(1) == {n + 1}",
        }
        for n in range(1, 13)
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["bench", "tune", "plain:system", "--tasks", "file:tasks.jsonl", "--rounds", "1", "--model", "helped"]
    words += ["--sandbox", "bubblewrap", "--set", "attempts=1", "--set", f"interpreter={bare_python}"]
    before = templates.preset_templates("plain")["system"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "round 1 of 1: 6 of 6 (best so far 0)" in err
    assert "6 of 6 tasks are solved only with it, and 0 only without it (exact McNemar p = 0.0312)" in out
    assert templates.preset_templates("plain")["system"] == f"{BETTER}\n"
    asked = model.asked
    assert main([*words, "--undo"]) == 0
    assert "is removed; what is built in holds again." in capsys.readouterr().out
    assert templates.preset_templates("plain")["system"] == before
    assert main(words) == 0  # everything is recorded
    assert model.asked == asked
