"""A machine with everything that `greenloop doctor` and `greenloop model` look for."""

from __future__ import annotations

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from fixed_machine import FixedMachine
from greenloop.core import registry
from greenloop.core.errors import CannotVerifyError
from greenloop.plugins.embedded import catalogue
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
def machine(project, monkeypatch, on_machine):
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
    for model in catalogue.read_catalogue():
        weights = catalogue.folder() / model.file
        weights.touch()
        os.truncate(weights, model.size)  # no byte of it is on the disk
    state = {"walls": walls, "environment": environment, "ollama": [], "weights": catalogue.folder()}
    on_machine(FixedMachine())

    class Part:
        def __init__(self, name: str) -> None:
            self.name = name

        def create(self, _settings):
            return Wall(self.name, state["walls"][self.name])

    class Ollama(BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps({"models": [{"name": name} for name in state["ollama"]]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words):
            """Nothing: what the command prints is tested."""

    def found(_root, _settings):
        if isinstance(state["environment"], Exception):
            raise state["environment"]
        return state["environment"]

    monkeypatch.setattr(registry, "list_parts", lambda _part: list(state["walls"]))
    monkeypatch.setattr(registry, "load_part", lambda _part, name: Part(name))
    monkeypatch.setattr("greenloop.project.workspace.find_environment", found)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with HTTPServer(("127.0.0.1", 0), Ollama) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.server_port}")
        yield state
        server.shutdown()
