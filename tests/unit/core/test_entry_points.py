"""Parts and commands of packages in greenloop's own environment."""

from __future__ import annotations

import json

import pytest

from greenloop.core import entry_points, registry
from greenloop.core.errors import SettingsError


def test_an_installed_folder_adds_to_those_of_a_part(install):
    install(
        "more", "[greenloop.parts]\nfeedback = more_feedback\n", ["more_feedback/__init__.py", "more_feedback/sun.py"]
    )
    assert registry.load_part("feedback", "sun").NAME == "more_feedback/sun.py"
    assert registry.has_part("feedback", "sun")
    assert not registry.has_part("search", "sun")
    assert {"sun", "cases"} <= {*registry.list_parts("feedback")}


def test_a_variant_of_greenloops_own_cannot_be_replaced(install):
    install("more", "[greenloop.parts]\nsearch = more_search\n", ["more_search/__init__.py", "more_search/ladder.py"])
    assert registry.load_part("search", "ladder").__name__ == "greenloop.drafting.search.ladder"


def test_for_a_variant_of_its_own_greenloop_reads_no_other_packages(install):
    assert registry.load_part("search", "ladder")
    assert registry.has_part("models", "scripted")
    assert entry_points._others.cache_info().misses == 0


def test_a_package_that_cannot_be_imported_is_named(install):
    install("more", "[greenloop.parts]\nfeedback = no_such_folder\n")
    with pytest.raises(SettingsError, match="package more cannot add 'feedback'") as raised:
        registry.list_parts("feedback")
    assert raised.value.remedy == "Update more, or uninstall it."


def test_other_groups_are_none_of_greenloops_business(install):
    install("more", "[console_scripts]\nmore = more:main\n[pytest11]\nmore = more\n")
    assert entry_points._others() == ()


def test_a_package_may_name_a_part_of_a_module_and_those_of_greenloops_own_come_first(install):
    install(
        "more", "[greenloop.commands]\n# a comment\nmore = more.c:NAME [extra]\n", ["more/__init__.py", "more/c.py"]
    )
    install("greenloop", "[greenloop.commands]\nlast = json\n")
    entries = entry_points.find_entry_points(entry_points.COMMANDS)
    assert [(entry.package, entry.name) for entry in entries] == [("greenloop", "last"), ("more", "more")]
    assert entry_points.load_all(entry_points.COMMANDS) == (json, "more/c.py")


def test_of_two_versions_the_first_counts(install, tmp_path):
    (tmp_path / "more-0.dist-info").mkdir()
    (tmp_path / "more-0.dist-info" / "entry_points.txt").write_text("[greenloop.commands]\nmore = more.first\n")
    install("more", "[greenloop.commands]\nmore = more.second\n")
    assert [entry.value for entry in entry_points.find_entry_points(entry_points.COMMANDS)] == ["more.first"]
