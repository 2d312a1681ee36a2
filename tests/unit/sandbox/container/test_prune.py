"""Old images go."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from greenloop_sandbox.container import prune
from greenloop_sandbox.container.engine import Engine


class Images:
    def __init__(self, *tags: str) -> None:
        self.tags, self.removed = tags, []

    def list(self, filters: dict) -> list[SimpleNamespace]:
        assert filters == {"label": ["dev.greenloop.image"]}
        return [SimpleNamespace(tags=[tag]) for tag in self.tags]

    def remove(self, name: str) -> None:
        if "busy" in name:
            raise OSError("in use")
        self.removed.append(name)


def test_images_are_removed_after_a_month_and_looked_at_once_a_day(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    images = Images(
        "greenloop-project:old",
        "localhost/greenloop-project:new",
        "greenloop-project:busy",
        "greenloop-project:others",
        "greenloop-base:3.11",
    )
    engine = Engine(client=SimpleNamespace(images=images), errors=(OSError,), name="Docker", version="1")
    now = time.time()
    long_ago = now - 31 * prune.DAY
    prune._write({"greenloop-project:old": long_ago, "greenloop-project:busy": long_ago})
    prune.record_use("greenloop-project:new")
    assert prune.prune_daily(engine) == ["greenloop-project:old"] == images.removed
    assert prune.prune_daily(engine) == []
    known = prune.read_json(prune._file())
    assert known["greenloop-project:others"] >= now  # not seen before: it counts as used now
    assert known["greenloop-project:busy"] == long_ago
    assert "greenloop-project:old" not in known


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_a_broken_memory_of_images_is_an_empty_one(tmp_path, monkeypatch, text):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "greenloop").mkdir()
    (tmp_path / "greenloop" / "images.json").write_text(text)
    assert prune.prune_daily(Engine(client=None, errors=(AttributeError,), name="Docker", version="1")) == []
