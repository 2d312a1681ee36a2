"""The embedded model's server: one that is not there, and one that another model needs."""

import asyncio
import json
import os
from dataclasses import asdict, replace

import pytest

from greenloop.core.errors import ModelError
from greenloop.plugins.embedded import catalogue, lock, server
from greenloop.plugins.embedded.settings import EmbeddedSettings
from greenloop.project.settings import Settings


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


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


async def test_absent_weights_of_another_model_name_its_command():
    with pytest.raises(ModelError, match=r"qwen2\.5-coder-7b is not downloaded yet") as caught:
        await server.start(Settings(), catalogue.find("qwen2.5-coder-7b"))
    assert "`greenloop model pull qwen2.5-coder-7b` (4.7 GB, once)" in caught.value.remedy
    with pytest.raises(ModelError) as caught:
        await server.start(Settings(), catalogue.find("seed-coder-8b"))
    assert "`greenloop model pull seed-coder-8b`, or name" in caught.value.remedy


RUNNING = server.RunningServer(port=1, key="k", pid=1, context=4096, threads=1)


@pytest.mark.parametrize(
    ("changed", "embedded", "suits"),
    [
        ({}, {}, True),
        ({"context": 8192}, {}, True),
        ({"context": 2048}, {}, False),
        ({}, {"slots": 2}, False),
        ({}, {"gpu": 0}, False),
        ({"gpu_layers": 0}, {"gpu": 0}, True),
        ({"model": "qwen2.5-coder-7b"}, {}, False),
    ],
)
def test_a_server_is_shared_by_those_whom_it_suits(changed, embedded, suits):
    settings = Settings(plugins=(EmbeddedSettings(**embedded),))
    model = catalogue.find(catalogue.DEFAULT)
    assert server._is_suitable(replace(RUNNING, **changed), settings, model) is suits


def test_a_context_that_the_model_was_not_trained_for_is_not_required():
    model, settings = replace(catalogue.find(catalogue.DEFAULT), context=2048), Settings()
    assert server._is_suitable(replace(RUNNING, context=2048), settings, model)


@pytest.fixture
async def others(monkeypatch):
    """A server with another model, which answers one request until its test says that it is done."""
    state = {"requests": 1.0, "stopped": False}

    async def handle(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        body = f"# HELP x\nllamacpp:requests_processing {state['requests']}\nllamacpp:requests_deferred 0\n".encode()
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    running = replace(RUNNING, model="granite-4.0-micro", port=port, pid=os.getpid())
    descriptor = lock.take(server.lock_file())
    server.state_file().write_text(json.dumps(asdict(running)))

    async def stop():
        state["stopped"] = True
        os.close(descriptor)
        return True

    monkeypatch.setattr(server, "_lock_holder", os.getpid)
    state["stop"] = stop
    yield state
    listener.close()
    if not state["stopped"]:
        os.close(descriptor)


async def test_a_server_with_another_model_ends_its_answer_before_it_is_replaced(others):
    waiting = asyncio.create_task(
        server._wait_for_existing(Settings(), catalogue.find(catalogue.DEFAULT), end=others["stop"])
    )
    await asyncio.sleep(4 * lock.INTERVAL)
    assert not others["stopped"]
    others["requests"] = 0.0
    assert await waiting is None
    assert others["stopped"]


async def test_a_server_that_never_ends_its_answer_is_replaced_all_the_same(others):
    assert (
        await server._wait_for_existing(Settings(), catalogue.find(catalogue.DEFAULT), seconds=0.2, end=others["stop"])
        is None
    )
    assert others["stopped"]


async def test_a_server_with_the_same_model_is_taken_as_it_is(others):
    model = catalogue.find("granite-4.0-micro")
    running = await server._wait_for_existing(Settings(), model, end=others["stop"])
    assert running.model == model.name
    assert not others["stopped"]
