"""A machine with everything that `greenloop doctor` and `greenloop model` look for."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixed_machine import FixedMachine
from greenloop.core import registry
from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox import Environment, Probe


class Wall:
    def __init__(self, name: str, result: Probe | Exception) -> None:
        self.name, self.result = name, result

    async def probe(self) -> Probe:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    async def open(self, _place):
        raise CannotVerifyError("it does not open today")


@pytest.fixture
def machine(project, monkeypatch):
    """A machine with everything; a test takes away what it wants."""
    walls = {
        "bubblewrap": Probe(name="bubblewrap", ok=True, detail="0.11"),
        "docker": Probe(name="docker", ok=False, detail="no engine", remedy="start it"),
        "none": Probe(name="none", ok=False, detail="no wall", remedy="do not"),
    }
    place = Path("/usr")
    environment = Environment(
        executable=place / "python3", prefix=place, base=place, version=(3, 12), source=".venv", has_pytest=True
    )
    weights = project / "weights.gguf"
    weights.write_text("w")
    state = {"walls": walls, "environment": environment, "ollama": [], "weights": weights, "hardware": FixedMachine()}

    class Part:
        def __init__(self, name: str) -> None:
            self.name = name

        def create(self, _settings):
            return Wall(self.name, state["walls"][self.name])

    async def ollama(_base):
        return state["ollama"]

    def found(_root, _settings):
        if isinstance(state["environment"], Exception):
            raise state["environment"]
        return state["environment"]

    monkeypatch.setattr(registry, "list_parts", lambda _part: list(state["walls"]))
    monkeypatch.setattr(registry, "load_part", lambda _part, name: Part(name))
    monkeypatch.setattr("greenloop.project.workspace.find_environment", found)
    monkeypatch.setattr("greenloop.models.default_model.ollama_models", ollama)
    monkeypatch.setattr("greenloop.plugins.embedded.weights.downloaded_file", lambda *_: state["weights"])
    monkeypatch.setattr("greenloop.plugins.embedded.hardware.Machine", lambda: state["hardware"])
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return state
