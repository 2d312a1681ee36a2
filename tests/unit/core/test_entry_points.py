"""Parts and commands of packages in greenloop's own environment."""

from __future__ import annotations

import sys

import pytest

from greenloop.core import entry_points, registry
from greenloop.core.errors import SettingsError


@pytest.fixture
def install(tmp_path, monkeypatch):
    """`install(name, entries, files)`: a package in greenloop's environment."""
    monkeypatch.setattr(entry_points, "_folders", lambda: [str(tmp_path)])
    monkeypatch.syspath_prepend(tmp_path)
    entry_points._entry_points.cache_clear()

    def lay(name, entries, files=()):
        metadata = tmp_path / f"{name}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(entries)
        for file in files:
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"NAME = {file!r}\n")
            monkeypatch.delitem(sys.modules, file.removesuffix(".py").replace("/", "."), raising=False)

    yield lay
    entry_points._entry_points.cache_clear()


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


def test_for_a_variant_of_its_own_greenloop_reads_no_other_packages(monkeypatch):
    monkeypatch.setattr(entry_points, "find_entry_points", lambda _group: pytest.fail("entry points were read"))
    assert registry.load_part("search", "ladder")
    assert registry.has_part("models", "remote")


def test_a_package_that_cannot_be_imported_is_named(install):
    install("more", "[greenloop.parts]\nfeedback = no_such_folder\n")
    with pytest.raises(SettingsError, match="package more cannot add 'feedback'") as raised:
        registry.list_parts("feedback")
    assert raised.value.remedy == "Update more, or uninstall it."


def test_other_groups_are_none_of_greenloops_business(install):
    install("more", "[console_scripts]\nmore = more:main\n[pytest11]\nmore = more\n")
    assert entry_points._entry_points() == ()
