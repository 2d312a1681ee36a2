"""Checks which embedded models this machine can run, and with how many threads."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import psutil

from greenloop.core.errors import ModelError
from greenloop.plugins.embedded.catalogue import EmbeddedModel, context_of
from greenloop.plugins.embedded.gpus import Gpu, find_gpus
from greenloop.plugins.embedded.settings import EmbeddedSettings
from greenloop.project.environment import cgroups
from greenloop.project.environment.installation import extra_command

ANOTHER = "Name another model, such as ollama/NAME or one of an API provider (setting `model`)."
# Processor features that the published builds of the engine use without checking for them.
FEATURES = {"avx2", "fma", "f16c", "bmi2"}
# Bytes in addition to the weights, the keys and the values: the engine and its buffers.
OVERHEAD = 450_000_000
# Billions of parameters for each token and core up to which a model is recommended for the processor: those of the
# default model on two cores, where it reads 33 tokens a second (measured; other models have not been).
ACTIVE_PER_CORE = 1.54 / 2


class Machine:
    """The resources of this machine for a model, each read when it is asked for.

    `memory`: free bytes. `cores`: threads that do not wait for each other. `gpus`: those that the engine can use; a
    process asks it. `features`: the processor's flags.
    """

    @property
    def has_engine(self) -> bool:
        return find_spec("xllamacpp") is not None

    @property
    def memory(self) -> int:
        return free_memory()

    @property
    def cores(self) -> int:
        return thread_count()

    @cached_property
    def gpus(self) -> tuple[Gpu, ...]:
        return find_gpus() if self.has_engine else ()

    @property
    def features(self) -> frozenset[str]:
        return frozenset(cpu_features())

    @property
    def architecture(self) -> str:
        return platform.machine()


def is_engine_installed() -> bool:
    return Machine().has_engine


def needed_memory(model: EmbeddedModel, settings: EmbeddedSettings) -> int:
    """Bytes of memory of a running model."""
    return model.size + OVERHEAD + context_of(model, settings) * settings.slots * model.bytes_a_token


def check(model: EmbeddedModel, settings: EmbeddedSettings, machine: Machine | None = None) -> None:
    """Raises `ModelError` with the remedy when a model cannot run on a machine, by default this one."""
    machine = machine or Machine()
    if not machine.has_engine:
        raise ModelError(
            "The embedded model's engine (xllamacpp) is not installed.",
            remedy=f"Run `{extra_command()}`, or name another model (setting `model`).",
        )
    if sentence := missing_features(machine):
        raise ModelError(sentence, remedy=ANOTHER)
    needed, free = needed_memory(model, settings), machine.memory
    # macOS counts one memory twice.
    if free < needed and settings.gpu and sys.platform != "darwin":
        free += sum(gpu.free for gpu in machine.gpus)
    if free < needed:
        raise ModelError(
            f"The embedded model needs {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free.",
            remedy=f"Close some programs, or lower `embedded.context`. {ANOTHER}",
        )


def missing_features(machine: Machine | None = None) -> str:
    """A sentence with what the processor lacks for the engine; empty if it has all."""
    machine = machine or Machine()
    missing = FEATURES - machine.features
    if not missing or machine.architecture not in {"x86_64", "AMD64"}:
        return ""
    return f"This processor lacks {', '.join(sorted(missing))}, which the embedded model needs."


def recommend(models: Sequence[EmbeddedModel], settings: EmbeddedSettings, machine: Machine) -> EmbeddedModel | None:
    """The largest model that fits this machine, or None. One whose license forbids some use is never recommended.

    It fits if a GPU has room for it, or if the memory has and the cores read prompts fast enough.
    """
    if missing_features(machine):
        return None
    fitting = [
        model
        for model in models
        if model.size and model.active and not model.restriction and _fits(model, settings, machine)
    ]
    return max(fitting, key=lambda model: model.size, default=None)


def _fits(model: EmbeddedModel, settings: EmbeddedSettings, machine: Machine) -> bool:
    needed = needed_memory(model, settings)
    if settings.gpu and any(gpu.free >= needed for gpu in machine.gpus):
        return True
    return machine.memory >= needed and model.active <= machine.cores * ACTIVE_PER_CORE


def describe_gpu_use(settings: EmbeddedSettings, gpus: Sequence[Gpu]) -> str:
    """Describes the effect of `embedded.gpu` on these GPUs; empty if it is the default and there is no GPU."""
    layers = settings.gpu
    if gpus:
        share = {-1: "as many layers as fit", 0: "no layers"}.get(layers, f"{layers} layers")
        return f"{share} of the embedded model on {', '.join(gpu.name for gpu in gpus)}"
    if layers == EmbeddedSettings().gpu or not is_engine_installed():
        return ""
    return f"{layers} has no effect: the engine was built without a GPU backend, or finds no GPU"


def describe(machine: Machine) -> str:
    """The machine in words."""
    gpus = "".join(f", {gpu.free / 1e9:.1f} GB free on {gpu.name}" for gpu in machine.gpus)
    cores = "1 core" if machine.cores == 1 else f"{machine.cores} cores"
    return f"{machine.memory / 1e9:.1f} GB of free memory, {cores}{gpus or ', no GPU that the engine can use'}"


def cpu_features(path: Path = Path("/proc/cpuinfo")) -> set[str]:
    """The processor's feature flags; if the system does not report them, all that are required."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return FEATURES
    return next((set(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), FEATURES)


def free_memory(limits: cgroups.CgroupLimits | None = None) -> int:
    """Bytes that a new process may use: what the system has available, or what its control group has left."""
    system_free, group_free = psutil.virtual_memory().available, (limits or cgroups.read_limits()).free_memory
    return system_free if group_free is None else min(system_free, group_free)


def thread_count() -> int:
    """The number of cores that this process may use: more threads would wait for each other."""
    processors = cgroups.processor_count()
    return min(processors, psutil.cpu_count(logical=False) or processors)
