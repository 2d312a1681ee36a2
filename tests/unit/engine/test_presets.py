"""Presets of greenloop's own, and those of installed packages."""

from __future__ import annotations

import pytest

from greenloop.core import entry_points
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
def installed(install):
    """A package with two presets, one of which has the name of greenloop's own."""
    files = {"more_presets/__init__.py": "", "more_presets/presets.toml": TEXT}
    install("more", "[greenloop.presets]\nmore = more_presets\n", files)


def test_an_installed_package_adds_presets_and_replaces_none(installed):
    assert presets.find_preset("fresh").description == "New."
    assert presets.find_preset("default").description != "Replaced."
    assert [*presets.load_presets()] == [*presets.load_own_presets(), "fresh"]


def test_for_a_preset_of_its_own_greenloop_reads_no_other_packages(install):
    assert presets.find_preset("plain")
    assert entry_points._others.cache_info().misses == 0


def test_of_an_unknown_name_those_that_exist_are_named(installed):
    with pytest.raises(SettingsError, match="no preset named 'fesh'") as raised:
        presets.find_preset("fesh")
    assert "fresh" in raised.value.remedy


def test_without_the_laboratory_an_unknown_name_says_where_more_presets_are(install):
    with pytest.raises(SettingsError) as raised:
        presets.find_preset("codetree")
    assert "come with greenloop's laboratory. Run `pip install ./lab`" in raised.value.remedy
