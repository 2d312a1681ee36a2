"""Presets of greenloop's own, and those of installed packages."""

from __future__ import annotations

import pytest

from greenloop.core import entry_points
from greenloop.core.entry_points import EntryPoint
from greenloop.core.errors import SettingsError
from greenloop.engine import presets

TEXT = """
[default]
description = "Replaced."
prompt = "default"
context = []
feedback = []
search = "chain"

[fresh]
description = "New."
prompt = "default"
context = []
feedback = []
search = "chain"
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with two presets, one of which has the name of greenloop's own."""
    (tmp_path / "more_presets").mkdir()
    (tmp_path / "more_presets" / "__init__.py").touch()
    (tmp_path / "more_presets" / "presets.toml").write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    entry = EntryPoint(package="more", name="more", value="more_presets", group=entry_points.PRESETS)
    monkeypatch.setattr(entry_points, "find_entry_points", lambda group: (entry,) if group == entry.group else ())
    presets._installed_presets.cache_clear()
    yield
    presets._installed_presets.cache_clear()


def test_an_installed_package_adds_presets_and_replaces_none(installed):
    assert presets.find_preset("fresh").description == "New."
    assert presets.find_preset("default").description != "Replaced."
    assert [*presets.load_presets()] == [*presets.load_own_presets(), "fresh"]


def test_for_a_preset_of_its_own_greenloop_reads_no_other_packages(monkeypatch):
    monkeypatch.setattr(entry_points, "find_entry_points", lambda _group: pytest.fail("entry points were read"))
    assert presets.find_preset("plain")


def test_of_an_unknown_name_those_that_exist_are_named(installed):
    with pytest.raises(SettingsError, match="no preset named 'fesh'") as raised:
        presets.find_preset("fesh")
    assert "fresh" in raised.value.remedy


def test_without_the_laboratory_an_unknown_name_says_where_more_presets_are(monkeypatch):
    monkeypatch.setattr(presets, "_installed_presets", dict)
    with pytest.raises(SettingsError) as raised:
        presets.find_preset("codetree")
    assert "come with greenloop's laboratory. Run `pip install ./lab`" in raised.value.remedy
