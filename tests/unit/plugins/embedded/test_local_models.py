"""Embedded models by their names in the setting `model`: ready, to be downloaded, to be installed."""

from __future__ import annotations

import pytest

from fixed_machine import FixedMachine
from greenloop.plugins.embedded import catalogue, local_models
from greenloop.project.settings import Settings


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return catalogue.folder()


def put_weights(folder, *names):
    for model in map(catalogue.find, names):
        with (folder / model.file).open("wb") as file:
            file.truncate(model.size)


def test_without_the_engine_it_is_to_be_installed(folder, on_machine):
    on_machine(FixedMachine(has_engine=False))
    put_weights(folder, catalogue.DEFAULT)
    assert [(name, needs) for name, _about, needs in local_models.list_choices()] == [("local", "install")]
    assert local_models.ready_models() == []
    assert local_models.steps_to_install().endswith("and `greenloop model pull`")


def test_without_weights_it_is_to_be_downloaded(folder, on_machine):
    on_machine(FixedMachine())
    assert [(name, needs) for name, _about, needs in local_models.list_choices()] == [("local", "pull")]
    (row,) = local_models.find_faults(Settings())
    assert (row.name, row.ok, row.remedy) == ("local", None, "greenloop model pull")


def test_the_default_model_comes_first(folder, on_machine):
    on_machine(FixedMachine())
    put_weights(folder, "qwen2.5-coder-7b", catalogue.DEFAULT)
    assert local_models.ready_models() == ["local", "local/qwen2.5-coder-7b"]
    assert [name for name, _about, _needs in local_models.list_choices()] == local_models.ready_models()
    assert local_models.downloaded_file("local/qwen2.5-coder-7b").name == catalogue.find("qwen2.5-coder-7b").file


def test_a_machine_with_too_little_memory_is_a_reason_not_to_run(folder, on_machine):
    on_machine(FixedMachine(memory=10**8))
    assert "memory" in local_models.why_not(Settings())
    on_machine(FixedMachine())
    assert local_models.why_not(Settings()) == ""
