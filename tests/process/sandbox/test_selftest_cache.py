"""Which program's self-test is remembered."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from greenloop_sandbox.backends import _bwrap_binary


@pytest.fixture
def folder():
    """A folder that every account may use, as the self-test is run by another one."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        (Path(folder) / "tried").touch(0o666)
        (Path(folder) / "tried").chmod(0o666)
        yield Path(folder)


def fake_bubblewrap(folder, version, code=0):
    """A program that notes its self-tests in `tried`, and ends each with this code."""
    path = folder / "bwrap"
    test = f"echo {version} >>{folder}/tried; echo no namespace >&2; exit {code}"
    path.write_text(f"#!/bin/sh\nif [ $1 = --version ]; then echo bubblewrap {version}; else {test}; fi\n")
    path.chmod(0o755)
    _bwrap_binary._test.cache_clear()
    return str(path)


def tried(folder):
    return (folder / "tried").read_text().split()


def test_bubblewrap_is_tested_once_for_each_program_and_version(folder):
    path = fake_bubblewrap(folder, "0.8.0")
    first = _bwrap_binary.choose((path,))
    _bwrap_binary._test.cache_clear()
    assert _bwrap_binary.choose((path,)) == first
    assert tried(folder) == ["0.8.0"]
    assert _bwrap_binary.choose((fake_bubblewrap(folder, "0.9.0"),)).version == "0.9.0"
    assert tried(folder) == ["0.8.0", "0.9.0"]


def test_a_self_test_that_failed_is_tried_again(folder):
    path = fake_bubblewrap(folder, "0.8.0", code=1)
    for _ in range(2):
        _bwrap_binary._test.cache_clear()
        with pytest.raises(_bwrap_binary.CannotVerifyError):
            _bwrap_binary.choose((path,))
    assert len(tried(folder)) % 2 == 0
    assert len(tried(folder)) >= 4
    _bwrap_binary._test.cache_clear()
