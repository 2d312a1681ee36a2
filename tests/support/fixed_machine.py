"""A machine whose resources the test says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from greenloop.plugins.embedded import hardware
from greenloop.plugins.embedded.gpus import Gpu


@dataclass(frozen=True)
class FixedMachine(hardware.Machine):
    """By default a modern one with room for every model, with the engine, without a GPU."""

    memory: int = 64 * 10**9
    cores: int = 8
    gpus: tuple[Gpu, ...] = ()
    has_engine: bool = True
    features: frozenset[str] = frozenset(hardware.FEATURES)
    architecture: str = "x86_64"


@pytest.fixture
def on_machine(monkeypatch) -> Callable[[FixedMachine], None]:
    """`on_machine(FixedMachine(cores=2))`: greenloop finds itself on that machine."""
    return lambda machine: monkeypatch.setattr(hardware, "Machine", lambda: machine)
