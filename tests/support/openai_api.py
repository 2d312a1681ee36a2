"""An OpenAI-compatible server in the test's own event loop, which does what the test tells it to, request by request."""

import asyncio
import contextlib
import json

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


class Server:
    """`script` has one behaviour a request (the last one stays); `requests` is what was asked.

    `properties` answers `/props`, which `asked_properties` counts; without them there is no such page.
    """

    def __init__(self):
        self.script = []
        self.properties = None
        self.asked_properties = []
        self.requests = []
        self.headers = []
        self.left = asyncio.Event()
        self.stalled = asyncio.Event()
        self._tasks = set()

    @property
    def base(self):
        return f"http://127.0.0.1:{self.port}/v1"

    async def handle(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            if head[0].startswith("GET /props "):
                self.asked_properties.append(head)
                await (self.properties or refuse(404, "There is no such page."))(self, reader, writer)
                return
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            self.requests.append(json.loads(await reader.readexactly(int(headers["content-length"]))))
            self.headers.append(headers)
            behave = self.script[min(len(self.requests), len(self.script)) - 1]
            await behave(self, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._tasks.discard(task)
            with contextlib.suppress(ConnectionError):
                writer.close()

    async def close(self):
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def serve():
    api = Server()
    listener = await asyncio.start_server(api.handle, "127.0.0.1", 0)
    api.port = listener.sockets[0].getsockname()[1]
    try:
        yield api
    finally:
        listener.close()
        await api.close()


def _event(delta, finish=None, **more):
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def head(status, kind, *headers):
    lines = [f"HTTP/1.1 {status} Status", f"Content-Type: {kind}", "Connection: close", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def answer(*pieces, finish="stop", usage=USAGE):
    async def behave(server, reader, writer):
        writer.write(head(200, "text/event-stream"))
        writer.write(_event({"role": "assistant", "content": ""}))
        for piece in pieces:
            writer.write(_event({"content": piece}))
            await writer.drain()
        writer.write(_event({}, finish))
        if usage:
            writer.write(
                _event({}, None, usage=usage).replace(b'[{"index": 0, "delta": {}, "finish_reason": null}]', b"[]")
            )
        writer.write(b"data: [DONE]\n\n")
        await writer.drain()

    return behave


def call_tool(name, arguments, number=0):
    """Asks the client to run one of its tools."""

    async def behave(server, reader, writer):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        writer.write(head(200, "text/event-stream"))
        writer.write(_event({"role": "assistant", "content": None, "tool_calls": [call]}))
        writer.write(_event({}, "tool_calls") + b"data: [DONE]\n\n")
        await writer.drain()

    return behave


def refuse(status, message, *headers, **fields):
    async def behave(server, reader, writer):
        body = json.dumps({"error": {"message": message, "code": status, **fields}}).encode()
        writer.write(head(status, "application/json", f"Content-Length: {len(body)}", *headers) + body)
        await writer.drain()

    return behave


def say(text):
    """Answers with a JSON text."""

    async def behave(server, reader, writer):
        writer.write(head(200, "application/json", f"Content-Length: {len(text)}") + text.encode())
        await writer.drain()

    return behave


def stall(*pieces):
    """Says so much and then nothing; `left` is set when the client has gone."""

    async def behave(server, reader, writer):
        writer.write(head(200, "text/event-stream"))
        for piece in pieces:
            writer.write(_event({"content": piece}))
        await writer.drain()
        server.stalled.set()
        await reader.read()
        server.left.set()

    return behave


def hang_up(*pieces):
    """Ends the connection in the middle of the answer, or before it."""

    async def behave(server, reader, writer):
        if pieces:
            writer.write(head(200, "text/event-stream", "Transfer-Encoding: chunked"))
            for piece in pieces:
                event = _event({"content": piece})
                writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
            await writer.drain()

    return behave
