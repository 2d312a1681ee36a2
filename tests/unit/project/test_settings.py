"""The settings' table."""

from __future__ import annotations

from greenloop.project import settings


def test_every_setting_is_documented():
    assert all(metadata["doc"].endswith(".") for _key, _kind, _default, metadata in settings.keys())


def test_folders_that_cannot_be_made_are_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for name in ("STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "file"))
    assert not settings.state_folder().exists()
    assert not settings.cache_folder().exists()
