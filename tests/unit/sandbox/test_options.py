"""How pytest is started inside: options of plugins that are not loaded would be unknown to it."""

from __future__ import annotations

import importlib.util

import pytest

from greenloop.sandboxes import payload


@pytest.fixture
def options(monkeypatch):
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    spec = importlib.util.spec_from_file_location("options", payload.folder() / "options.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # as if every plugin were installed
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: name)
    return module


@pytest.mark.parametrize(
    ("ini", "taken_back"),
    [
        ("[pytest]\n", True),
        ("[pytest]\naddopts = --disable-plugin-autoload\n", False),
        ("[pytest]\naddopts = --disable-plugin-autoload -p pytest_benchmark\n", True),
    ],
)
def test_only_plugins_that_are_loaded_are_told_anything(options, tmp_path, ini, taken_back):
    (tmp_path / "pytest.ini").write_text(ini)
    assert ("--benchmark-disable" in options.pytest_arguments(str(tmp_path), "/scratch")) is taken_back
