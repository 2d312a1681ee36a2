"""Embedded models, `local` and `local/NAME`: starts or joins the user's server and queries it over HTTP.

It does not use litellm, whose import is slow. This module must not know how the server is started.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from time import monotonic
from typing import Any

import httpx

from greenloop.core.errors import ModelError
from greenloop.core.python.indentation import cut_block
from greenloop.core.records.model import ChatRequest, InfillRequest, Reply, Usage
from greenloop.core.text.tokens import estimate_messages, estimate_tokens
from greenloop.models.chat.completions import open_client
from greenloop.plugins.embedded import catalogue, client, server
from greenloop.plugins.embedded.catalogue import EmbeddedModel
from greenloop.plugins.embedded.continuations import Beginning, Step, best_texts, read_steps
from greenloop.plugins.embedded.settings import EmbeddedSettings
from greenloop.project.settings import Settings

Start = Callable[[Settings, EmbeddedModel], Awaitable[server.RunningServer]]
RIVALS = 5  # most probable tokens that are reported for each place of a filling


def create(name: str, settings: Settings, start: Start = server.start) -> Local:
    """Makes the client; the first request starts the server. Raises `ModelError` for an unknown model."""
    model = catalogue.named_by(name)
    return (LocalInfiller if model.fim else Local)(name, settings, model, start)


class Local:
    """A client of the server. The server belongs to the user and outlives the client."""

    def __init__(self, name: str, settings: Settings, model: EmbeddedModel, start: Start) -> None:
        self._name, self._start = name, start
        self._settings = settings
        self._model = model
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def slots(self) -> int:
        """The number of requests that the server answers concurrently."""
        return self._settings.of(EmbeddedSettings).slots

    @property
    def context(self) -> int:
        return catalogue.context_of(self._model, self._settings.of(EmbeddedSettings))

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelError` when the model is not downloaded, cannot run here, or its server is lost twice."""
        guess = estimate_messages(request.messages)

        async def ask(running: server.RunningServer) -> Reply:
            reply, _steps = await self._ask(running, "/v1/chat/completions", chat_body(request), guess, on_token)
            return reply

        return await self._start_and(ask)

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def close(self) -> None:
        """Closes the client alone: the server stays for the next request and exits when idle."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _start_and(self, ask: Callable[[server.RunningServer], Awaitable[Reply]]) -> Reply:
        for is_last_try in (False, True):
            running = await self._start(self._settings, self._model)
            try:
                return await ask(running)
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
        *,
        begin: str = "",
        is_done: Callable[[str], bool] = lambda _text: False,
    ) -> tuple[Reply, list[Step]]:
        """Streams one reply, until its text `is_done`; returns it with its steps, if the body asks for them.

        `prompt_estimate`: tokens of the prompt, if the server does not report them; `begin`: how the text begins.
        """
        began = monotonic()
        text, steps = begin, list[Step]()
        finish, timings = "stop", dict[str, Any]()
        self._client = self._client or open_client(is_local=True)
        stream = client.events(self._client, running, path, body, self._settings.api.timeout)
        async with aclosing(stream) as events:
            async for event in events:
                piece, reason = parse_event(event)
                if piece:
                    text += piece
                    on_token(piece)
                steps += read_steps(event)
                finish = reason or finish
                timings = event.get("timings") or timings
                if is_done(text):
                    break
        cached, processed = timings.get("cache_n", 0), timings.get("prompt_n", 0)
        usage = Usage(
            prompt_tokens=cached + processed or prompt_estimate,
            completion_tokens=timings.get("predicted_n", estimate_tokens(text)),
            cached_tokens=cached,
            model_seconds=monotonic() - began,
        )
        return Reply(text=text, usage=usage, model=self._name, finish=finish), steps


class LocalInfiller(Local):
    """A client of a model that also fills holes in code."""

    async def infill(self, request: InfillRequest, on_token: Callable[[str], None]) -> Reply:
        """The text between the request's prefix and suffix, and the next best ones. Errors as in `complete`."""

        async def fill(running: server.RunningServer) -> Reply:
            usage = Usage()
            finish = "stop"

            async def write(beginning: Beginning) -> tuple[str, Sequence[Step]]:
                nonlocal usage, finish
                body = infill_body(request, self._model, beginning)
                guess = estimate_tokens(request.prefix + request.suffix)
                reply, steps = await self._ask(
                    running,
                    "/completion",
                    body,
                    guess,
                    _ignore,
                    begin=beginning.text,
                    is_done=lambda text: cut(text)[1],
                )
                # What a further filling has in common with the first is in the cache, and was counted once.
                spent = reply.usage
                known = spent.cached_tokens if beginning.numbers else 0
                finish = finish if beginning.numbers else reply.finish
                usage += replace(
                    spent, prompt_tokens=spent.prompt_tokens - known, cached_tokens=spent.cached_tokens - known
                )
                return reply.text, steps

            def cut(text: str) -> tuple[str, bool]:
                return cut_filling(request, text)

            texts = await best_texts(write, cut, count=max(1, request.fillings), avoid=request.avoid)
            on_token(texts[0])
            return Reply(text=texts[0], usage=usage, model=self._name, finish=finish, others=tuple(texts[1:]))

        return await self._start_and(fill)


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


def infill_body(request: InfillRequest, model: EmbeddedModel, beginning: Beginning | None = None) -> dict[str, Any]:
    """The body of an infill request; `beginning`: the tokens that the filling is made to begin with."""
    prompt = model.fim.format(prefix=request.prefix, suffix=request.suffix)
    body = _sampling(request) | {
        "prompt": [prompt, *beginning.numbers] if beginning and beginning.numbers else prompt,
        "n_predict": request.max_tokens,
        "stop": [*request.stop, *model.fim_ends],
        "timings_per_token": True,  # for fillings that are ended early
    }
    if request.avoid or request.fillings > 1:
        body["n_probs"] = RIVALS
    return body


def cut_filling(request: InfillRequest, text: str) -> tuple[str, bool]:
    """The part of a text that belongs into the hole, and whether more text would change nothing."""
    if request.lines == 1:
        line, end, _rest = text.partition("\n")
        return line, bool(end)
    indent = request.prefix.rpartition("\n")[2]
    after = request.suffix.lstrip("\n").partition("\n")[0]
    return cut_block(text, indent, request.lines, after, is_statement=request.is_statement)


def _ignore(_piece: str) -> None:
    """Fillings are passed on as a whole: which one is the answer is known at the end."""


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
