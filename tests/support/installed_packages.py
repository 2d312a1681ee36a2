"""Packages in greenloop's environment, as pip leaves them."""

from __future__ import annotations

import sys

import pytest

from greenloop.core import entry_points
from greenloop.engine import presets
from greenloop.project import settings

CACHES = (
    entry_points.own_entry_points,
    entry_points._others,
    presets._installed_presets,
    settings.keys,
    settings._plugin_kinds,
)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """`install(name, entries, files)`: a package in greenloop's environment, which has no other one."""
    monkeypatch.setattr(entry_points, "_folders", lambda: [str(tmp_path)])
    monkeypatch.syspath_prepend(tmp_path)
    clear_caches()

    def lay(name, entries, files=()):
        metadata = tmp_path / f"{name}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(entries)
        for file in files:
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[file] if isinstance(files, dict) else f"NAME = {file!r}\n")
            monkeypatch.delitem(sys.modules, file.removesuffix(".py").replace("/", "."), raising=False)
        clear_caches()

    yield lay
    clear_caches()


def clear_caches():
    for each in CACHES:
        each.cache_clear()
