"""Checks whether this machine can run the embedded model, and with how many threads."""

from __future__ import annotations

import platform
from importlib.util import find_spec
from pathlib import Path

import psutil

from greenloop.core.errors import ModelError
from greenloop.project import cgroups

ANOTHER = "Name another model, such as ollama/NAME or one of an API provider (setting `model`)."
# Processor features that the published builds of the engine use without checking for them.
FEATURES = {"avx2", "fma", "f16c", "bmi2"}
# Bytes in addition to the weights: the engine and its buffers, and the keys and values of one token of context.
OVERHEAD = 450_000_000
BYTES_A_TOKEN = 28_672


def is_engine_installed() -> bool:
    return find_spec("xllamacpp") is not None


def check(weights: int, context: int) -> None:
    """Raises `ModelError` with the remedy when a model of `weights` bytes cannot run here."""
    if not is_engine_installed():
        raise ModelError(
            "The embedded model's engine (xllamacpp) is not installed.",
            remedy='Run `pip install "greenloop[local]"`, or name another model (setting `model`).',
        )
    missing_features = FEATURES - cpu_features()
    if missing_features and platform.machine() in {"x86_64", "AMD64"}:
        raise ModelError(
            f"This processor lacks {', '.join(sorted(missing_features))}, which the embedded model needs.",
            remedy=ANOTHER,
        )
    needed, free = weights + OVERHEAD + context * BYTES_A_TOKEN, free_memory()
    if free < needed:
        raise ModelError(
            f"The embedded model needs {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free.",
            remedy=f"Close some programs, or lower `embedded.context`. {ANOTHER}",
        )


def cpu_features(path: Path = Path("/proc/cpuinfo")) -> set[str]:
    """The processor's feature flags; if the system does not report them, all that are required."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return FEATURES
    return next((set(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), FEATURES)


def free_memory() -> int:
    """Bytes that a new process may use: what the system has available, or what its control group has left."""
    system_free, group_free = psutil.virtual_memory().available, cgroups.read_limits().free_memory
    return system_free if group_free is None else min(system_free, group_free)


def thread_count() -> int:
    """The number of cores that this process may use: more threads would wait for each other."""
    processors = cgroups.processor_count()
    return min(processors, psutil.cpu_count(logical=False) or processors)
