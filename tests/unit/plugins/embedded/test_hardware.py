"""The machine's fitness."""

import os
import sys
from dataclasses import replace

import pytest

from fixed_machine import FixedMachine
from greenloop.core.errors import ModelError
from greenloop.plugins.embedded import catalogue, hardware
from greenloop.plugins.embedded.gpus import Gpu
from greenloop.plugins.embedded.settings import EmbeddedSettings

SETTINGS = EmbeddedSettings()
DEFAULT = catalogue.find(catalogue.DEFAULT)
GIGA = 10**9


def test_a_missing_engine_names_the_extra():
    with pytest.raises(ModelError, match="not installed") as caught:
        hardware.check(DEFAULT, SETTINGS, FixedMachine(has_engine=False))
    assert "xllamacpp>=" in caught.value.remedy


def test_too_little_memory_is_told_in_numbers():
    with pytest.raises(ModelError, match=r"needs 1\.7 GB of memory, and 0\.8 GB are free"):
        hardware.check(DEFAULT, SETTINGS, FixedMachine(memory=800_000_000))


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS counts one memory twice")
def test_memory_of_a_gpu_counts_unless_it_is_not_to_be_used():
    machine = FixedMachine(memory=800_000_000, gpus=(Gpu(name="g", free=GIGA),))
    hardware.check(DEFAULT, SETTINGS, machine)
    with pytest.raises(ModelError, match="0.8 GB are free"):
        hardware.check(DEFAULT, replace(SETTINGS, gpu=0), machine)


def test_memory_grows_with_context_and_slots():
    base = hardware.needed_memory(DEFAULT, SETTINGS)
    assert hardware.needed_memory(DEFAULT, replace(SETTINGS, context=8192)) == base + 4096 * 28672
    assert hardware.needed_memory(DEFAULT, replace(SETTINGS, slots=3)) == base + 2 * 4096 * 28672
    largest = hardware.needed_memory(DEFAULT, replace(SETTINGS, context=32768))
    assert hardware.needed_memory(DEFAULT, replace(SETTINGS, context=100_000)) == largest


def test_an_old_processor_is_told():
    old = FixedMachine(features={"sse2", "fma"}, memory=100 * GIGA, cores=64)
    with pytest.raises(ModelError, match="processor lacks avx2, bmi2, f16c"):
        hardware.check(DEFAULT, SETTINGS, old)
    assert hardware.recommend(catalogue.read_catalogue(), SETTINGS, old) is None
    other = replace(old, architecture="arm64")
    assert hardware.recommend(catalogue.read_catalogue(), SETTINGS, other) is not None


def test_features_are_read_where_the_system_tells_them(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor : 0\nflags\t\t: fpu avx2 fma\n")
    assert hardware.cpu_features(cpuinfo) == {"fpu", "avx2", "fma"}
    assert hardware.cpu_features(tmp_path / "none") == hardware.FEATURES


def test_there_is_at_least_one_thread():
    assert 1 <= hardware.thread_count() <= os.cpu_count()


@pytest.mark.parametrize(
    ("memory", "cores", "gpu", "name"),
    [
        (1.5, 16, 0, None),
        (2, 1, 0, None),
        (2, 2, 0, "qwen2.5-coder-1.5b"),
        (64, 2, 0, "qwen2.5-coder-1.5b"),
        (8, 8, 0, "granite-4.0-micro"),
        (8, 12, 0, "qwen2.5-coder-7b"),
        (64, 8, 0, "qwen3-coder-30b"),
        (12, 32, 0, "qwen2.5-coder-14b"),
        (4, 2, 8, "qwen2.5-coder-7b"),
        (4, 2, 24, "qwen3-coder-30b"),
        (4, 2, 1, "qwen2.5-coder-1.5b"),
    ],
)
def test_the_largest_model_that_fits_is_recommended(memory, cores, gpu, name):
    gpus = (Gpu(name="g", free=gpu * GIGA),) if gpu else ()
    machine = FixedMachine(memory=int(memory * GIGA), cores=cores, gpus=gpus)
    found = hardware.recommend(catalogue.read_catalogue(), SETTINGS, machine)
    assert (found and found.name) == name


def test_a_gpu_that_is_not_to_be_used_recommends_nothing():
    machine = FixedMachine(memory=2 * GIGA, cores=2, gpus=(Gpu(name="g", free=24 * GIGA),))
    found = hardware.recommend(catalogue.read_catalogue(), replace(SETTINGS, gpu=0), machine)
    assert found.name == catalogue.DEFAULT


def test_a_model_with_a_restricted_license_is_never_recommended():
    restricted = catalogue.find("qwen2.5-coder-3b")
    machine = FixedMachine(memory=64 * GIGA, cores=64)
    assert hardware.recommend([restricted], SETTINGS, machine) is None
    assert hardware.recommend([replace(restricted, restriction="")], SETTINGS, machine) is not None


@pytest.mark.parametrize(
    ("layers", "gpus", "words"),
    [
        (-1, (), ""),
        (20, (), "20 has no effect: the engine was built without a GPU backend, or finds no GPU"),
        (-1, (Gpu(name="G1", free=1), Gpu(name="G2", free=1)), "as many layers as fit of the embedded model on G1, G2"),
        (0, (Gpu(name="G1", free=1),), "no layers of the embedded model on G1"),
        (20, (Gpu(name="G1", free=1),), "20 layers of the embedded model on G1"),
    ],
)
def test_what_comes_of_gpu_layers(layers, gpus, words):
    assert hardware.describe_gpu_use(replace(SETTINGS, gpu=layers), gpus) == words


def test_the_machine_in_words():
    machine = FixedMachine(memory=8_120_000_000, cores=1, gpus=(Gpu(name="G1", free=7_900_000_000),))
    assert hardware.describe(machine) == "8.1 GB of free memory, 1 core, 7.9 GB free on G1"
    assert hardware.describe(replace(machine, gpus=(), cores=4)).endswith("4 cores, no GPU that the engine can use")
