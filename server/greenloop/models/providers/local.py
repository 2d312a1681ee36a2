"""Embedded model `local`: starts or joins the user's server and queries it over HTTP.

It does not use litellm, whose import is slow. This module must not know how the server is started.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from greenloop.core.errors import ModelError
from greenloop.core.records.model import ChatRequest, InfillRequest, Reply
from greenloop.core.records.usage import Usage
from greenloop.core.text.tokens import estimate_messages, estimate_tokens
from greenloop.models.embedded import client, server
from greenloop.project.settings import Settings

# Qwen2.5-Coder's fill-in-the-middle format, and the tokens with which it ends an infill.
FIM = "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>"
FIM_ENDS = ("<|fim_pad|>", "<|endoftext|>", "<|file_sep|>", "<|repo_name|>", "<|fim_prefix|>", "<|im_end|>")


def create(name: str, settings: Settings) -> Local:
    """Makes the client; the first request starts the server."""
    return Local(name, settings)


class Local:
    """A client of the server. The server belongs to the user and outlives the client."""

    def __init__(self, name: str, settings: Settings) -> None:
        self._name = name
        self._settings = settings

    @property
    def name(self) -> str:
        return self._name

    @property
    def slots(self) -> int:
        """The number of requests that the server answers concurrently."""
        return self._settings.embedded.slots

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelError` when the model is not downloaded, cannot run here, or its server is lost twice."""
        guess = estimate_messages(request.messages)
        return await self._answer("/v1/chat/completions", chat_body(request), guess, on_token)

    async def infill(self, request: InfillRequest, on_token: Callable[[str], None]) -> Reply:
        """The text between the request's prefix and suffix. Errors as in `complete`."""
        body = infill_body(request)
        return await self._answer("/completion", body, estimate_tokens(body["prompt"]), on_token)

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def close(self) -> None:
        """Does nothing: the server stays for the next request and exits when idle."""

    async def _answer(
        self, path: str, body: dict[str, Any], prompt_estimate: int, on_token: Callable[[str], None]
    ) -> Reply:
        for is_last_try in (False, True):
            running = await server.start(self._settings)
            try:
                return await self._ask(running, path, body, prompt_estimate, on_token)
            except client.ServerLostError as error:
                # Killed, just exited idle, or stopped by the user elsewhere: start another one, once.
                if is_last_try:
                    raise ModelError(
                        f"The embedded model's server exited twice during one request ({error}).",
                        remedy=f"See {server.log_file()} for the reason; free some memory, or name another model.",
                    ) from error
        raise AssertionError

    async def _ask(
        self,
        running: server.RunningServer,
        path: str,
        body: dict[str, Any],
        prompt_estimate: int,
        on_token: Callable[[str], None],
    ) -> Reply:
        """Streams one reply. `prompt_estimate`: tokens of the prompt, if the server does not report them."""
        began = monotonic()
        pieces: list[str] = []
        finish, timings = "stop", dict[str, Any]()
        async for event in client.events(running, path, body, self._settings.api.timeout):
            piece, reason = parse_event(event)
            if piece:
                pieces.append(piece)
                on_token(piece)
            finish = reason or finish
            timings = event.get("timings") or timings
        text = "".join(pieces)
        cached, processed = timings.get("cache_n", 0), timings.get("prompt_n", 0)
        usage = Usage(
            prompt_tokens=cached + processed or prompt_estimate,
            completion_tokens=timings.get("predicted_n", estimate_tokens(text)),
            cached_tokens=cached,
            model_seconds=monotonic() - began,
        )
        return Reply(text=text, usage=usage, model=self._name, finish=finish)


def parse_event(event: dict[str, Any]) -> tuple[str, str]:
    """The text and the finish reason, if any, in an event of a chat or of a raw completion."""
    if "content" in event:
        return event["content"], {"limit": "length", "none": ""}.get(event.get("stop_type", "none"), "stop")
    for choice in event.get("choices", ()):
        reason = choice.get("finish_reason") or ""
        return choice.get("delta", {}).get("content") or "", reason if reason in {"", "length"} else "stop"
    return "", ""


def chat_body(request: ChatRequest) -> dict[str, Any]:
    """The body of a chat request."""
    body = _sampling(request) | {
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "max_tokens": request.max_tokens,
        "stream_options": {"include_usage": True},
    }
    if request.stop:
        body["stop"] = list(request.stop)
    if request.frequency_penalty:
        body["frequency_penalty"] = request.frequency_penalty
    return body


def infill_body(request: InfillRequest) -> dict[str, Any]:
    """The body of an infill request."""
    return _sampling(request) | {
        "prompt": FIM.format(prefix=request.prefix, suffix=request.suffix),
        "n_predict": request.max_tokens,
        "stop": [*request.stop, *FIM_ENDS],
    }


def _sampling(request: ChatRequest | InfillRequest) -> dict[str, Any]:
    body: dict[str, Any] = {
        "temperature": request.temperature,
        "cache_prompt": True,
        # Progress events while a long prompt is processed, so that the timeout does not expire.
        "return_progress": True,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    return body
