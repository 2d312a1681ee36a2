"""The bundled Hypothesis: which files stay in the cache."""

from __future__ import annotations

import os

import pytest

from greenloop_sandbox import bundled_hypothesis


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Builds the file of an installation of that name, as a process of its own would; tells whether it had to."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def install(name):
        package = tmp_path / name / "hypothesis.py"
        package.parent.mkdir(exist_ok=True)
        package.touch()
        before = {*tmp_path.rglob("*.zip")}
        assert bundled_hypothesis._load(["hypothesis-6"], [package])
        return {*tmp_path.rglob("*.zip")} != before

    return install


def test_two_installations_do_not_build_it_for_each_other_again(install):
    assert [install(name) for name in ("one", "two", "one", "two")] == [True, True, False, False]


def test_the_oldest_are_forgotten(install, tmp_path):
    install("first")
    (first,) = tmp_path.rglob("*.zip")
    os.utime(first, (1, 1))
    for number in range(20):
        install(f"other {number}")
    assert not first.exists()
    assert len(list(tmp_path.rglob("*.zip"))) == 8
