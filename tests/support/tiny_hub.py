"""A hub of one file, in the test's own event loop: it answers HEAD and GET with ranges, and redirects as the real one."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib

from tiny_weights import DATA


class Hub:
    """`asked` is each request's method, path and first byte.

    `states`: does it state size and hash before it redirects? `ranges`: does it know ranges? `cut`: bytes that are
    missing at the end of an answer.
    """

    def __init__(self, data=DATA, *, states=True, ranges=True, cut=0):
        self.data, self.states, self.ranges, self.cut = data, states, ranges, cut
        self.asked = []

    async def __aenter__(self):
        self.listener = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_):
        self.listener.close()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.listener.sockets[0].getsockname()[1]}"

    async def _handle(self, reader, writer):
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        start = int(headers.get("range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        self.asked.append((method, path, start))
        head, body = self.respond(path, start)
        writer.write(head.encode() + b"Connection: close\r\n\r\n" + (b"" if method == "HEAD" else body))
        with contextlib.suppress(ConnectionError):  # a client may leave in the middle
            await writer.drain()
            writer.close()

    def respond(self, path, start):
        """The lines of the answer's head, and its body."""
        if "/resolve/" in path:
            stated = (
                f'X-Linked-Size: {len(self.data)}\r\nX-Linked-Etag: "{sha256(self.data)}"\r\n' if self.states else ""
            )
            return f"HTTP/1.1 302 Found\r\n{stated}Location: {self.address}/store\r\nContent-Length: 0\r\n", b""
        body = self.data[start:] if self.ranges else self.data
        span = f"Content-Range: bytes {start}-{len(self.data) - 1}/{len(self.data)}\r\n" if self.ranges else ""
        status = "206 Partial" if self.ranges else "200 OK"
        return f"HTTP/1.1 {status}\r\n{span}Content-Length: {len(body)}\r\n", body[: len(body) - self.cut]


class Portal(Hub):
    """A network that answers everything with its own page."""

    def respond(self, path, start):
        return "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n", b"<html>"


def sha256(data):
    return hashlib.sha256(data).hexdigest()
