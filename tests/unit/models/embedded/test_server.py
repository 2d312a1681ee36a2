"""embedded: the choice of a model, the machine's fitness, and a server that is not there."""

import asyncio
import json
import os

import pytest

from greenloop.core.errors import ModelError
from greenloop.models.embedded import default_model, hardware, lock, server, weights
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


def put_weights():
    path = weights.folder() / weights.CODER.file
    with path.open("wb") as file:
        file.truncate(weights.CODER.size)


# -- choice ----------------------------------------------------------------------------------------------------------


async def test_the_setting_wins():
    put_weights()
    assert await default_model.choose(Settings(model="ollama/x")) == "ollama/x"


async def test_the_embedded_model_comes_before_ollama(monkeypatch, ollama):
    put_weights()
    monkeypatch.setattr(hardware, "find_spec", lambda _: object())
    assert await default_model.choose(Settings(), {"OLLAMA_HOST": await ollama("qwen")}) == "local"


@pytest.mark.parametrize("there", ["weights", "engine"])
async def test_half_an_embedded_model_is_none(monkeypatch, ollama, there):
    if there == "weights":
        put_weights()
    monkeypatch.setattr(hardware, "find_spec", lambda _: object() if there == "engine" else None)
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


# -- machine ---------------------------------------------------------------------------------------------------------


def test_a_missing_engine_names_the_extra(monkeypatch):
    monkeypatch.setattr(hardware, "find_spec", lambda _: None)
    with pytest.raises(ModelError, match="not installed") as caught:
        hardware.check(1, 1024)
    assert 'pip install "greenloop[local]"' in caught.value.remedy


def test_too_little_memory_is_told_in_numbers(monkeypatch):
    monkeypatch.setattr(hardware, "find_spec", lambda _: object())
    monkeypatch.setattr(hardware, "free_memory", lambda: 800_000_000)
    with pytest.raises(ModelError, match=r"needs 1\.7 GB of memory, and 0\.8 GB are free"):
        hardware.check(weights.CODER.size, 4096)


def test_an_old_processor_is_told(monkeypatch):
    monkeypatch.setattr(hardware, "find_spec", lambda _: object())
    monkeypatch.setattr(hardware, "cpu_features", lambda: {"sse2", "fma"})
    monkeypatch.setattr(hardware.platform, "machine", lambda: "x86_64")
    with pytest.raises(ModelError, match="processor lacks avx2, bmi2, f16c"):
        hardware.check(1, 1024)


def test_features_are_read_where_the_system_tells_them(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor : 0\nflags\t\t: fpu avx2 fma\n")
    assert hardware.cpu_features(cpuinfo) == {"fpu", "avx2", "fma"}
    assert hardware.cpu_features(tmp_path / "none") == hardware.FEATURES


def test_there_is_at_least_one_thread():
    assert 1 <= hardware.thread_count() <= os.cpu_count()


# -- server and lock -------------------------------------------------------------------------------------------------


async def test_absent_weights_name_the_command():
    with pytest.raises(ModelError, match="not downloaded yet") as caught:
        await server.start(Settings())
    assert "greenloop model pull" in caught.value.remedy
    assert "1.1 GB" in caught.value.remedy


async def test_a_dead_servers_file_is_no_server():
    server.lock_file().write_text("1")
    server.state_file().write_text(json.dumps({"port": 1, "key": "k", "pid": 1, "context": 9, "threads": 1}))
    assert server.status() is None
    assert await server.stop() is False


async def test_a_lock_that_is_no_servers_is_never_a_server_to_be_killed():
    """The pid in the lock file is another program's: it must not get a signal."""
    server.lock_file().write_text(str(os.getpid()))
    descriptor = lock.take(server.lock_file())
    try:
        state = {"port": 1, "key": "k", "pid": os.getpid(), "context": 9, "threads": 1}
        server.state_file().write_text(json.dumps(state))
        assert server.status() is None
        assert server._lock_holder() == 0
    finally:
        os.close(descriptor)
