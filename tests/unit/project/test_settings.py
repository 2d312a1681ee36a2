"""The settings' table."""

from __future__ import annotations

from greenloop.project import settings


def test_every_setting_is_documented():
    assert all(metadata["doc"].endswith(".") for _key, _kind, _default, metadata in settings.keys())
