"""Passes connections on: in greenloop, and as process 1 of a service's containers (`python relay.py PORT`).

There it listens at /service/socket once the port of the loopback answers. The service shares its network and ends with
it, and it ends with its standard input, which greenloop holds.
"""

import asyncio
import contextlib
import functools
import os
import signal
import sys
import threading


async def relay(connect, reader, writer):
    """Passes a connection on to what `connect` opens, or aborts it where that fails."""
    try:
        their_reader, their_writer = await connect()
    except OSError:
        writer.transport.abort()
    else:
        await asyncio.gather(_pass_on(reader, their_writer), _pass_on(their_reader, writer))


async def _pass_on(reader, writer):
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _serve(connect):
    writer = None
    while writer is None:
        with contextlib.suppress(OSError):
            _reader, writer = await connect()
        await asyncio.sleep(0.05)
    writer.close()
    server = await asyncio.start_unix_server(functools.partial(relay, connect), "/service/socket")
    await server.serve_forever()


if __name__ == "__main__":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans of the service are nobody else's
    threading.Thread(target=lambda: (os.read(0, 1), os._exit(0)), daemon=True).start()
    asyncio.run(_serve(functools.partial(asyncio.open_connection, "127.0.0.1", int(sys.argv[1]))))
