"""Which program's self-test is remembered."""

from __future__ import annotations

import pytest

from greenloop_sandbox.backends import _bwrap_binary


def fake_bubblewrap(path, version):
    path.write_text(f"#!/bin/sh\necho bubblewrap {version}\n")
    path.chmod(0o755)
    _bwrap_binary._test.cache_clear()
    return str(path)


def test_bubblewrap_is_tested_once_for_each_program_and_version(tmp_path, monkeypatch):
    tried = []
    monkeypatch.setattr(_bwrap_binary, "_self_test", lambda program: tried.append(program.version) or "")
    path = fake_bubblewrap(tmp_path / "bwrap", "0.8.0")
    first = _bwrap_binary.choose((path,))
    _bwrap_binary._test.cache_clear()
    assert _bwrap_binary.choose((path,)) == first
    assert tried == ["0.8.0"]
    assert _bwrap_binary.choose((fake_bubblewrap(tmp_path / "bwrap", "0.9.0"),)).version == "0.9.0"
    assert tried == ["0.8.0", "0.9.0"]


def test_a_self_test_that_failed_is_tried_again(tmp_path, monkeypatch):
    tried = []
    monkeypatch.setattr(_bwrap_binary, "_self_test", lambda program: tried.append(1) or "no namespace")
    path = fake_bubblewrap(tmp_path / "bwrap", "0.8.0")
    for _ in range(2):
        _bwrap_binary._test.cache_clear()
        with pytest.raises(_bwrap_binary.CannotVerifyError):
            _bwrap_binary.choose((path,))
    assert len(tried) % 2 == 0
    assert len(tried) >= 4
    _bwrap_binary._test.cache_clear()
