"""The machine's fitness."""

import os

import pytest

from greenloop.core.errors import ModelError
from greenloop.models.embedded import hardware, weights


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_a_missing_engine_names_the_extra(monkeypatch):
    monkeypatch.setattr(hardware, "find_spec", lambda _: None)
    with pytest.raises(ModelError, match="not installed") as caught:
        hardware.check(1, 1024)
    assert 'pip install "greenloop[local]"' in caught.value.remedy


def test_too_little_memory_is_told_in_numbers(monkeypatch):
    monkeypatch.setattr(hardware, "find_spec", lambda _: object())
    monkeypatch.setattr(hardware, "free_memory", lambda: 800_000_000)
    with pytest.raises(ModelError, match=r"needs 1\.7 GB of memory, and 0\.8 GB are free"):
        hardware.check(weights.CODER.size, 4096)


def test_an_old_processor_is_told(monkeypatch):
    monkeypatch.setattr(hardware, "find_spec", lambda _: object())
    monkeypatch.setattr(hardware, "cpu_features", lambda: {"sse2", "fma"})
    monkeypatch.setattr(hardware.platform, "machine", lambda: "x86_64")
    with pytest.raises(ModelError, match="processor lacks avx2, bmi2, f16c"):
        hardware.check(1, 1024)


def test_features_are_read_where_the_system_tells_them(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor : 0\nflags\t\t: fpu avx2 fma\n")
    assert hardware.cpu_features(cpuinfo) == {"fpu", "avx2", "fma"}
    assert hardware.cpu_features(tmp_path / "none") == hardware.FEATURES


def test_there_is_at_least_one_thread():
    assert 1 <= hardware.thread_count() <= os.cpu_count()
