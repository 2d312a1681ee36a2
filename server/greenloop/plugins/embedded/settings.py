"""Settings of the embedded model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from greenloop.project.settings import setting


@dataclass(frozen=True, kw_only=True)
class EmbeddedSettings:
    """The resources of the embedded model."""

    section: ClassVar[str] = "embedded"

    idle: float = setting(900.0, "Seconds without a request after which the embedded model's server exits.", least=10)
    threads: int = setting(0, "Threads of the embedded model; 0: one per core.", least=0)
    context: int = setting(
        4096, "Context size of the embedded model in tokens, limited to the size it was trained for.", least=1024
    )
    gpu: int = setting(
        -1,
        "Layers of the embedded model on the GPU; -1: as many as fit; 0: none. No effect if the engine was "
        "built without a GPU backend.",
        least=-1,
    )
    slots: int = setting(
        1,
        "Requests that the embedded model answers in parallel, each with `embedded.context` tokens of memory; more "
        "than one only pays off with many cores.",
        least=1,
    )
    nice: int = setting(5, "Niceness of the embedded model (0 to 19).", least=0)
