"""Fixtures of a turn: a project, and an engine in place of the real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_turn import WRONG, FakeEngine
from greenloop.core.records.outcome import Outcome
from greenloop.engine import after_run
from greenloop.engine import refine as engine


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "m.py").write_text(WRONG)
    return folder


@pytest.fixture
def use(root: Path, monkeypatch: pytest.MonkeyPatch):
    def replace(*results: Outcome | Exception) -> FakeEngine:
        fake = FakeEngine(root, *results)
        monkeypatch.setattr(engine, "refine", fake.refine)
        monkeypatch.setattr(after_run, "reverify", fake.reverify)
        return fake

    return replace
