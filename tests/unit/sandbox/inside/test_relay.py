"""Connections that are passed on."""

import asyncio
import functools

from greenloop_sandbox import payload

relay = payload.relay()


async def _shout(reader, writer):
    writer.write((await reader.read(100)).upper())
    writer.close()


async def _ask(connect, path):
    async with await asyncio.start_unix_server(functools.partial(relay.relay, connect), path):
        reader, writer = await asyncio.open_unix_connection(path)
        try:
            writer.write(b"ping")
            return await reader.read(100)
        except ConnectionError:
            return b""
        finally:
            writer.close()


async def test_both_directions_are_passed_on(tmp_path):
    server = str(tmp_path / "server")
    async with await asyncio.start_unix_server(_shout, server):
        connect = functools.partial(asyncio.open_unix_connection, server)
        assert await _ask(connect, str(tmp_path / "relay")) == b"PING"


async def test_where_nothing_answers_the_connection_ends(tmp_path):
    connect = functools.partial(asyncio.open_unix_connection, str(tmp_path / "nobody"))
    assert await _ask(connect, str(tmp_path / "relay")) == b""
