from __future__ import annotations

import pytest

from greenloop.models import known_models


@pytest.fixture
def without_litellm(monkeypatch, tmp_path):
    """An installation without the extra `providers`."""
    caches = (known_models.table, known_models.providers, known_models._compatible)
    monkeypatch.setattr(known_models, "find_spec", lambda _name: None)
    monkeypatch.chdir(tmp_path)
    for cache in caches:
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()
