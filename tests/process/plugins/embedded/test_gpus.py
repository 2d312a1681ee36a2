"""GPUs as the engine lists them in a process of its own."""

import pytest

from greenloop.plugins.embedded import gpus


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """An engine that a test writes, imported by the process in place of the real one."""

    def write(body):
        (tmp_path / "xllamacpp.py").write_text(body)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    return write


DEVICES = """
from types import SimpleNamespace as N
print("a line of the backend's own")
def get_device_info():
    names = ["CPU", "GPU", "IGPU"]
    return [
        {"type": N(name=f"GGML_BACKEND_DEVICE_TYPE_{name}"), "description": f"a {name}", "memory_free": 7 << 30}
        for name in names
    ]
"""


def test_only_gpus_with_memory_of_their_own_are_listed(engine):
    engine(DEVICES)
    assert gpus.find_gpus() == (gpus.Gpu(name="a GPU", free=7 << 30),)


@pytest.mark.parametrize("body", ["raise ImportError", "import os; os._exit(3)", "get_device_info = 7"])
def test_an_engine_that_cannot_say_has_none(engine, body):
    engine(body)
    assert gpus.find_gpus() == ()


def test_an_engine_that_does_not_answer_has_none(engine):
    engine("import time; time.sleep(60)")
    assert gpus.find_gpus(seconds=0.5) == ()


def test_an_interpreter_that_cannot_be_started_has_none():
    assert gpus.find_gpus("/nowhere/python") == ()


def test_the_installed_engine_answers():
    pytest.importorskip("xllamacpp")
    assert all(device["free"] >= 0 for device in gpus.list_engine_gpus())
    assert len(gpus.find_gpus()) == len(gpus.list_engine_gpus())
