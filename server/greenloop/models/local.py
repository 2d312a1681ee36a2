"""The embedded model: `local`. Starts or joins the user's server and talks to it directly: litellm's import is slow.

This module must not know how the server is made; `embedded.server` does.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from time import monotonic
from typing import Any

import httpx

from greenloop.core.errors import ContextTooLong, ModelProblem
from greenloop.core.nouns import Completion, Reply, Usage
from greenloop.core.tokens import estimate, estimate_messages
from greenloop.embedded import server
from greenloop.settings import Settings

# Tokens a second in reading, before this machine's own speed is known (two cores of a small virtual machine).
READING = 33.0
# Shorter prompts are over before their speed can be told.
MEASURABLE = 64


def create(name: str, settings: Settings) -> Local:
    """Starts nothing yet: the first request does."""
    return Local(name, settings)


class _Broken(Exception):
    """The connection broke: the server is gone, or going."""


class Local:
    """Knows this machine's reading speed from what it has seen; the server itself belongs to the user, not to this."""

    def __init__(self, name: str, settings: Settings) -> None:
        self._name = name
        self._settings = settings
        self._reading = READING

    @property
    def name(self) -> str:
        return self._name

    async def complete(self, request: Completion, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelProblem` when the model is not there, cannot run here, or its server is lost twice."""
        for last in (False, True):
            running = await server.start(self._settings)
            try:
                return await self._ask(running, request, on_token)
            except _Broken as error:
                # Killed, ended idle in this very moment, or stopped by the user elsewhere: one more begins anew.
                if last:
                    raise ModelProblem(
                        f"The embedded model's server was lost twice in one request ({error}).",
                        remedy=f"{server.log_file()} may say why; free some memory, or name another model.",
                    ) from error
        raise AssertionError

    def count_tokens(self, text: str) -> int:
        return estimate(text)

    def reading_seconds(self, tokens: int) -> float:
        """About how long the model reads a prompt of so many tokens before it begins to answer."""
        return tokens / self._reading

    async def close(self) -> None:
        """The server stays for the next request and ends by itself when idle."""

    async def _ask(self, running: server.Running, request: Completion, on_token: Callable[[str], None]) -> Reply:
        began = monotonic()
        pieces: list[str] = []
        finish = "stop"
        counts: dict[str, int] = {}
        async for event in self._events(running, _body(request)):
            for choice in event.get("choices", ()):
                piece = choice.get("delta", {}).get("content")
                if piece:
                    pieces.append(piece)
                    on_token(piece)
                finish = choice.get("finish_reason") or finish
            counts = event.get("usage") or counts
            self._learn(event.get("timings"))
        text = "".join(pieces)
        usage = Usage(
            prompt_tokens=counts.get("prompt_tokens", estimate_messages(request.messages)),
            completion_tokens=counts.get("completion_tokens", estimate(text)),
            model_seconds=monotonic() - began,
        )
        return Reply(text=text, usage=usage, model=self._name, finish="length" if finish == "length" else "stop")

    async def _events(self, running: server.Running, body: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The answer's events. Leaving early closes the connection, which makes the server stop writing."""
        timeout = httpx.Timeout(self._settings.api.timeout, connect=5)
        # A connection is used once: the server sometimes drops one that was kept after a streamed answer.
        limits = httpx.Limits(max_keepalive_connections=0)
        headers = {"Authorization": f"Bearer {running.key}"}
        try:
            async with (
                httpx.AsyncClient(trust_env=False, verify=False, timeout=timeout, limits=limits) as client,  # noqa: S501 - plain http
                client.stream("POST", f"{running.base}/chat/completions", json=body, headers=headers) as response,
            ):
                if response.status_code != httpx.codes.OK:
                    raise _refused(await response.aread(), response.status_code, running)
                done = False
                async for line in response.aiter_lines():
                    if not line.startswith("data: "):
                        continue
                    if done := line == "data: [DONE]":
                        break
                    event = json.loads(line.removeprefix("data: "))
                    if "error" in event:
                        raise _refused(line.removeprefix("data: ").encode(), 500, running)
                    yield event
                if not done:
                    raise _Broken("the answer broke off")
        except httpx.ReadTimeout as error:
            raise ModelProblem(
                f"The embedded model gave no sign of life for {self._settings.api.timeout:g} seconds.",
                remedy="Is the machine very busy? Raise `api.timeout`, or run `greenloop model stop` and try again.",
            ) from error
        except httpx.TransportError as error:
            raise _Broken(str(error) or type(error).__name__) from error

    def _learn(self, timings: dict[str, Any] | None) -> None:
        if timings and timings.get("prompt_n", 0) >= MEASURABLE:
            self._reading = float(timings["prompt_per_second"])


def _body(request: Completion) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        "cache_prompt": True,
        # Signs of life while a long prompt is read.
        "return_progress": True,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.stop:
        body["stop"] = list(request.stop)
    return body


def _refused(content: bytes, status: int, running: server.Running) -> ModelProblem | _Broken:
    """What an error answer of the server means."""
    try:
        error = json.loads(content)["error"]
        kind, message = str(error.get("type", "")), str(error.get("message", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        kind, message = "", content.decode(errors="replace")[:200]
    if kind == "exceed_context_size_error":
        return ContextTooLong(
            f"The prompt is too long for the embedded model's context of {running.context} tokens.",
            remedy="Lower `prompt.tokens`, or raise `embedded.context`.",
        )
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.SERVICE_UNAVAILABLE}:
        # Another server took the port, or this one is only now loading: the state file will tell.
        return _Broken(message)
    return ModelProblem(
        f"The embedded model's server refused the request: {message}.", remedy=f"{server.log_file()} may say more."
    )
