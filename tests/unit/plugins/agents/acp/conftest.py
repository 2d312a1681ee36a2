"""Fixtures of a turn: a project, and an engine in place of the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_turn import WRONG, FakeEngine
from fake_engine import fake, project
from greenloop.core.records.outcome import Outcome

__all__ = ["fake", "project"]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "m.py").write_text(WRONG)
    return folder


@pytest.fixture
def use(root: Path, fake: Any):
    def replace(*results: Outcome | Exception) -> FakeEngine:
        engine = FakeEngine(root, *results)
        fake.refine, fake.reverify = engine.refine, engine.reverify
        return engine

    return replace
