"""The embedded model: `local`. Starts or joins the user's server and talks to it directly: litellm's import is slow.

This module must not know how the server is made; `embedded.server` does.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from greenloop.core.errors import ModelProblem
from greenloop.core.nouns import Completion, Hole, Reply, Usage
from greenloop.core.tokens import estimate, estimate_messages
from greenloop.embedded import client, server
from greenloop.settings import Settings

# Qwen2.5-Coder's way of asking for what stands between two texts, and what it writes when it has said that.
FIM = "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>"
FIM_ENDS = ("<|fim_pad|>", "<|endoftext|>", "<|file_sep|>", "<|repo_name|>", "<|fim_prefix|>", "<|im_end|>")


def create(name: str, settings: Settings) -> Local:
    """Starts nothing yet: the first request does."""
    return Local(name, settings)


class Local:
    """A client of the server, which belongs to the user, not to this."""

    def __init__(self, name: str, settings: Settings) -> None:
        self._name = name
        self._settings = settings

    @property
    def name(self) -> str:
        return self._name

    @property
    def slots(self) -> int:
        """How many requests the server answers side by side."""
        return self._settings.embedded.slots

    async def complete(self, request: Completion, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelProblem` when the model is not there, cannot run here, or its server is lost twice."""
        guess = estimate_messages(request.messages)
        return await self._answer("/v1/chat/completions", chat(request), guess, on_token)

    async def infill(self, request: Hole, on_token: Callable[[str], None]) -> Reply:
        """What stands between the hole's texts. Errors as in `complete`."""
        body = hole(request)
        return await self._answer("/completion", body, estimate(body["prompt"]), on_token)

    def count_tokens(self, text: str) -> int:
        return estimate(text)

    async def close(self) -> None:
        """The server stays for the next request and ends by itself when idle."""

    async def _answer(self, path: str, body: dict[str, Any], guess: int, on_token: Callable[[str], None]) -> Reply:
        for last in (False, True):
            running = await server.start(self._settings)
            try:
                return await self._ask(running, path, body, guess, on_token)
            except client.Broken as error:
                # Killed, ended idle in this very moment, or stopped by the user elsewhere: one more begins anew.
                if last:
                    raise ModelProblem(
                        f"The embedded model's server was lost twice in one request ({error}).",
                        remedy=f"{server.log_file()} may say why; free some memory, or name another model.",
                    ) from error
        raise AssertionError

    async def _ask(
        self, running: server.Running, path: str, body: dict[str, Any], guess: int, on_token: Callable[[str], None]
    ) -> Reply:
        """`guess`: tokens of the prompt, should the server not say."""
        began = monotonic()
        pieces: list[str] = []
        finish, timings = "stop", dict[str, Any]()
        async for event in client.events(running, path, body, self._settings.api.timeout):
            piece, end = said(event)
            if piece:
                pieces.append(piece)
                on_token(piece)
            finish = end or finish
            timings = event.get("timings") or timings
        text = "".join(pieces)
        cached, read = timings.get("cache_n", 0), timings.get("prompt_n", 0)
        usage = Usage(
            prompt_tokens=cached + read or guess,
            completion_tokens=timings.get("predicted_n", estimate(text)),
            cached_tokens=cached,
            model_seconds=monotonic() - began,
        )
        return Reply(text=text, usage=usage, model=self._name, finish=finish)


def said(event: dict[str, Any]) -> tuple[str, str]:
    """A piece of the answer, and how it ended if it did; of a chat's event or of a raw completion's."""
    if "content" in event:
        return event["content"], {"limit": "length", "none": ""}.get(event.get("stop_type", "none"), "stop")
    for choice in event.get("choices", ()):
        end = choice.get("finish_reason") or ""
        return choice.get("delta", {}).get("content") or "", end if end in {"", "length"} else "stop"
    return "", ""


def chat(request: Completion) -> dict[str, Any]:
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


def hole(request: Hole) -> dict[str, Any]:
    return _sampling(request) | {
        "prompt": FIM.format(prefix=request.prefix, suffix=request.suffix),
        "n_predict": request.max_tokens,
        "stop": [*request.stop, *FIM_ENDS],
    }


def _sampling(request: Completion | Hole) -> dict[str, Any]:
    body: dict[str, Any] = {
        "temperature": request.temperature,
        "cache_prompt": True,
        # Signs of life while a long prompt is read.
        "return_progress": True,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    return body
