"""Self-tests that passed are remembered for this start of this machine, and for nothing else."""

from __future__ import annotations

import json
import os
import platform

import pytest

from greenloop_sandbox import selftest_cache


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "greenloop" / "wall-passed.json"


def test_what_passed_is_recalled_with_its_facts():
    assert selftest_cache.recall("wall", "a") is None
    selftest_cache.remember("wall", "a", {"overlay": True})
    selftest_cache.remember("wall", "b", {})
    assert selftest_cache.recall("wall", "a") == {"overlay": True}
    assert selftest_cache.recall("wall", "b") == {}
    assert selftest_cache.recall("other", "a") is None


@pytest.mark.parametrize("changed", ["boot", "kernel", "user"])
def test_another_boot_kernel_or_user_knows_nothing(cache, changed):
    selftest_cache.remember("wall", "a", {})
    here = {"boot": selftest_cache.boot_id(), "kernel": platform.release(), "user": str(os.getuid())}
    assert [*json.loads(cache.read_text())] == ["|".join([*here.values(), "a"])]
    cache.write_text(json.dumps({"|".join([*(here | {changed: "another"}).values(), "a"]): {}}))
    assert selftest_cache.recall("wall", "a") is None


@pytest.mark.parametrize("rubbish", ["", "{", "[1]", '{"x": 1}', "\xff"])
def test_a_spoilt_cache_is_an_empty_one(cache, rubbish):
    cache.parent.mkdir(parents=True)
    cache.write_text(rubbish, encoding="latin-1")
    assert selftest_cache.recall("wall", "a") is None
    selftest_cache.remember("wall", "a", {})
    assert selftest_cache.recall("wall", "a") == {}


def test_old_notes_are_dropped(cache):
    for number in range(selftest_cache.MAX_ENTRIES + 5):
        selftest_cache.remember("wall", str(number), {})
    assert len(json.loads(cache.read_text())) == selftest_cache.MAX_ENTRIES
    assert selftest_cache.recall("wall", "0") is None
