"""Tests that start processes: everything they keep goes into folders of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixed_machine import on_machine

__all__ = ["on_machine"]


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
