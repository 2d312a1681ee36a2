"""The choice of a model."""

import asyncio
import json

import pytest

from fixed_machine import FixedMachine
from greenloop.models import default_model
from greenloop.plugins.embedded import catalogue
from greenloop.project.settings import Settings


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
async def ollama():
    """An Ollama with the models it is given, as host:port."""
    listeners = []

    async def start(*models):
        async def handle(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            body = json.dumps({"models": [{"name": name} for name in models]}).encode()
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()
            writer.close()

        listeners.append(await asyncio.start_server(handle, "127.0.0.1", 0))
        return f"127.0.0.1:{listeners[-1].sockets[0].getsockname()[1]}"

    yield start
    for listener in listeners:
        listener.close()


def put_weights(name=catalogue.DEFAULT):
    model = catalogue.find(name)
    with (catalogue.folder() / model.file).open("wb") as file:
        file.truncate(model.size)


async def test_the_setting_wins():
    put_weights()
    assert await default_model.choose(Settings(model="ollama/x")) == "ollama/x"


async def test_the_embedded_model_comes_before_ollama(on_machine, ollama):
    put_weights()
    on_machine(FixedMachine())
    assert await default_model.choose(Settings(), {"OLLAMA_HOST": await ollama("qwen")}) == "local"


@pytest.mark.parametrize(
    ("there", "chosen"),
    [
        (["qwen2.5-coder-7b"], "local/qwen2.5-coder-7b"),
        (["qwen2.5-coder-7b", "granite-4.0-micro"], "local/granite-4.0-micro"),
        (["qwen2.5-coder-7b", "qwen2.5-coder-1.5b"], "local"),
    ],
)
async def test_an_embedded_model_that_was_downloaded_is_used(on_machine, ollama, there, chosen):
    for name in there:
        put_weights(name)
    on_machine(FixedMachine())
    assert await default_model.choose(Settings(), {"OLLAMA_HOST": await ollama("qwen")}) == chosen


@pytest.mark.parametrize("there", ["weights", "engine"])
async def test_half_an_embedded_model_is_none(on_machine, ollama, there):
    if there == "weights":
        put_weights()
    on_machine(FixedMachine(has_engine=there == "engine"))
    host = await ollama("qwen:7b", "llama")
    assert await default_model.choose(Settings(), {"OLLAMA_HOST": host}) == "ollama/qwen:7b"


async def test_a_key_is_offered_and_never_used(ollama):
    environ = {"OLLAMA_HOST": await ollama(), "OPENAI_API_KEY": "k", "GROQ_API_KEY": "", "HOME": "/"}
    assert await default_model.choose(Settings(), environ) == ""
    assert default_model.available_keys(environ) == ["OPENAI_API_KEY"]


async def test_no_ollama_is_no_trouble():
    assert await default_model.choose(Settings(), {"OLLAMA_HOST": "127.0.0.1:1"}) == ""
    assert await default_model.choose(Settings(), {"OLLAMA_HOST": "http://[bad"}) == ""


@pytest.mark.parametrize(
    ("host", "base"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":8080", "http://127.0.0.1:8080"),
        ("gpu.home:1234/", "http://gpu.home:1234"),
        ("https://ai.example", "https://ai.example:443"),
        ("http://ai.example:9", "http://ai.example:9"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(host, base):
    assert default_model.ollama_base({"OLLAMA_HOST": host}) == base
