"""The common part of stand-in servers: scripts of answers and refusals, lists of requests and faults.

It knows no provider's format.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass

from aiohttp import web

KEY = "test-key-0123456789"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer in no provider's format; `end`: whole, cut (at the limit), early, stall (in the middle) or broken.

    `broken`: an error of the provider comes in the stream. `reports`: it says how many tokens it took.
    """

    text: str = ""
    calls: tuple[tuple[str, dict], ...] = ()
    thinking: str = ""
    end: str = "whole"
    cached: int = 0
    reports: bool = True


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A refusal of a request that is right; `wait`: the seconds that it states.

    `kind`: limit, overload, key, long, or one that only this provider knows.
    """

    kind: str
    wait: float = 0.0


class WrongRequestError(Exception):
    """A request that the real server refuses, with the status and the body that it refuses it with."""

    def __init__(self, message: str, body: dict, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
        self.body = body


# Numbers of tokens that every stand-in reports.
PROMPT, WRITTEN, THOUGHT = 1100, 7, 20


class StandIn:
    """A server in the test's event loop. `script` has one entry for each right request; the last one stays.

    `requests` and `headers` are what was asked, `faults` what was wrong with it. `began` is set when the first piece of
    an answer that stalls was sent, and `left` when its client has gone.
    """

    model = ""
    paths: tuple[str, ...] = ()
    content_type = "text/event-stream"

    def __init__(self, *script: Answer | Refusal) -> None:
        self.script = list(script)
        self.requests: list[dict] = []
        self.headers: list[dict] = []
        self.faults: list[str] = []
        self.began = asyncio.Event()
        self.left = asyncio.Event()
        self.base = ""

    def check(self, body: dict, request: web.Request) -> None:
        """Raises `WrongRequestError` as the real server refuses the request."""
        raise NotImplementedError

    def refuse(self, refusal: Refusal) -> tuple[int, dict, dict]:
        """The status, headers and body of a refusal."""
        raise NotImplementedError

    def beginning(self, answer: Answer, body: dict) -> list[bytes]:
        """The pieces of an answer up to its last word."""
        raise NotImplementedError

    def ending(self, answer: Answer, body: dict) -> list[bytes]:
        """The pieces that say that the answer is over, and what it took."""
        raise NotImplementedError

    def properties(self) -> dict:
        """What the server says about itself and its model, if it says anything."""
        return {}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        try:
            self.check(body, request)
        except WrongRequestError as wrong:
            self.faults.append(str(wrong))
            return _whole(wrong.status, {}, wrong.body)
        act = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(act, Refusal):
            return _whole(*self.refuse(act))
        response = web.StreamResponse(headers={"Content-Type": self.content_type})
        response.force_close()
        await response.prepare(request)
        for piece in self.beginning(act, body):
            await response.write(piece)
        if act.end == "stall":
            self.began.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.left.set()
        if act.end in {"whole", "cut", "broken"}:
            for piece in self.ending(act, body):
                await response.write(piece)
        await response.write_eof()
        return response


def _whole(status: int, headers: dict, body: dict) -> web.Response:
    response = web.json_response(body, status=status, headers=headers)
    response.force_close()  # litellm's connections would outlive the event loop of a test
    return response


@contextlib.asynccontextmanager
async def serve(stand_in: StandIn):
    """Runs a stand-in; a client that goes cancels the answer."""
    app = web.Application()
    for path in stand_in.paths:
        app.router.add_post(path, stand_in.handle)
    if properties := stand_in.properties():
        app.router.add_get("/props", lambda _request: web.json_response(properties))
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    stand_in.base = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
    try:
        yield stand_in
    finally:
        await runner.cleanup()


def event(data: dict, name: str = "") -> bytes:
    """A server-sent event."""
    return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(data).encode() + b"\n\n"


def pieces(text: str, size: int = 5) -> list[str]:
    """A text in the small pieces in which it is streamed."""
    return [text[start : start + size] for start in range(0, len(text), size)]
