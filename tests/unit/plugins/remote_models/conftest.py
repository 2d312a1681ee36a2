from __future__ import annotations

import sys

import pytest

from greenloop.plugins.remote_models import known_models


@pytest.fixture
def without_litellm(monkeypatch, tmp_path):
    """An installation without the extra `providers`."""
    caches = (known_models.table, known_models.providers, known_models._compatible)
    monkeypatch.setitem(sys.modules, "litellm", None)
    monkeypatch.chdir(tmp_path)
    for cache in caches:
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()
