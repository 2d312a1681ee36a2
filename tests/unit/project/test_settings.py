"""The settings' table."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import pytest

from greenloop.project import configuration, settings


@dataclasses.dataclass(frozen=True, kw_only=True)
class Weather:
    section: ClassVar[str] = "verify"

    rain: int = settings.setting(3, "Millimetres.", repository="lower", least=0)
    noticed: str = settings.setting("mine", "A name that greenloop has.")


@pytest.fixture
def plugin(install):
    """A plugin with settings of its own."""
    install("weather", f"[greenloop.settings]\nweather = {Weather.__module__}:Weather\n")


def test_a_plugin_has_settings_as_greenloop_has(plugin, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.greenloop]\nverify.rain = 2\n")
    loaded, warnings = configuration.load(tmp_path, editor={"verify": {"rain": "wet"}}, environ={})
    assert loaded.of(Weather) == Weather(rain=2)
    assert warnings == ["Setting 'verify.rain' in the editor must be a whole number, not 'wet'; 2 is kept."]
    assert settings.get(loaded, "verify.rain") == settings.values(loaded)["verify.rain"] == 2


def test_a_plugin_does_not_replace_a_setting_of_greenloop(plugin):
    changed = settings.with_value(settings.Settings(), "verify.noticed", 0.2)
    assert changed.verify.noticed == 0.2
    assert changed.of(Weather).noticed == "mine"
    assert [key for key, *_ in settings.keys()].count("verify.noticed") == 1


def test_settings_are_equal_in_whatever_order_they_were_set():
    words = {"improve.memory": 0.5, "embedded.nice": 9}
    first = configuration.load(None, command_line=words, environ={})
    second = configuration.load(None, command_line=dict(reversed(words.items())), environ={})
    assert first == second


def test_every_setting_is_documented():
    assert all(metadata["doc"].endswith(".") for _key, _kind, _default, metadata in settings.keys())


def test_folders_that_cannot_be_made_are_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for name in ("STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "file"))
    assert not settings.state_folder().exists()
    assert not settings.cache_folder().exists()
