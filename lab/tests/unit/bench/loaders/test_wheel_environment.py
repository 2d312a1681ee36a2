"""Environments of wheels."""

from __future__ import annotations

import pytest

from greenloop.core.errors import UsageError
from greenloop_lab.bench.loaders.wheel_environment import make_environment
from wheels import make_wheel


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_wheels_are_unpacked_once_and_another_version_is_another_environment(tmp_path):
    folder = tmp_path / "wheels"
    folder.mkdir()
    wheel = make_wheel(folder, {"thing.py": "VERSION = 1\n", "thing-1.0.dist-info/METADATA": "Name: thing\n"})
    python = make_environment(folder)
    (module,) = python.parents[1].glob("lib/*/site-packages/thing.py")
    module.write_text("# seen\n")
    assert make_environment(folder) == python
    assert module.read_text() == "# seen\n"
    (python.parents[1] / "complete").unlink()  # as after a kill
    assert make_environment(folder) == python
    assert module.read_text() == "VERSION = 1\n"
    wheel.unlink()
    make_wheel(folder, {"thing.py": "VERSION = 2\n"}, "thing-2.0-py3-none-any.whl")
    assert make_environment(folder) != python


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "There is no wheel in"),
        ({"../out.py": ""}, "paths outside"),
        ({"thing-1.0.data/scripts/run": ""}, "only an installation puts in place"),
    ],
)
def test_what_cannot_be_unpacked_is_one_sentence(tmp_path, files, why):
    folder = tmp_path / "wheels"
    folder.mkdir()
    if files:
        make_wheel(folder, files)
    with pytest.raises(UsageError, match=why) as raised:
        make_environment(folder)
    assert raised.value.remedy
    (folder / "bad.whl").write_bytes(b"no zip")
    with pytest.raises(UsageError):
        make_environment(folder)
