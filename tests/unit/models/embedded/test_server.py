"""embedded: the choice of a model, the machine's fitness, and a server that is not there."""

import json
import os

import pytest

from greenloop.core.errors import ModelError
from greenloop.models.embedded import lock, server
from greenloop.project.settings import Settings


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


# -- choice ----------------------------------------------------------------------------------------------------------


# -- machine ---------------------------------------------------------------------------------------------------------


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
