"""Finds the graphics processors that the engine can use: `python -m greenloop.plugins.embedded.gpus` prints them.

The engine is asked in a process of its own, because it keeps some memory of each GPU until its process ends.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

SECONDS = 20.0
MODULE = "greenloop.plugins.embedded.gpus"


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """`free`: bytes of its memory that are free."""

    name: str
    free: int


def find_gpus(python: str = sys.executable, seconds: float = SECONDS) -> tuple[Gpu, ...]:
    """The GPUs; none where the engine is missing, was built without a GPU backend, or does not answer in time."""
    try:
        # -P: nothing is imported from the user's current folder.
        listed = subprocess.run(
            [python, "-P", "-m", MODULE],
            capture_output=True,
            timeout=seconds,
            check=True,
            stdin=subprocess.DEVNULL,
        )
        return tuple(Gpu(**each) for each in json.loads(listed.stdout.splitlines()[-1]))
    except (OSError, subprocess.SubprocessError, ValueError, IndexError, TypeError):
        return ()


def list_engine_gpus() -> list[dict[str, str | int]]:
    """Lists the GPUs that the engine of this process can use, as it describes them."""
    import xllamacpp  # noqa: PLC0415 - heavy, and not installed without the extra

    return [
        {"name": device["description"], "free": device["memory_free"]}
        for device in xllamacpp.get_device_info()
        # Processors with graphics of their own use the main memory, and are no faster with it.
        if device["type"].name == "GGML_BACKEND_DEVICE_TYPE_GPU"
    ]


if __name__ == "__main__":
    print(json.dumps(list_engine_gpus()))  # noqa: T201 - the answer
