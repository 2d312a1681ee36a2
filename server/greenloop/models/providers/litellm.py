"""Models that litellm can reach: OpenAI, Anthropic, Ollama, OpenAI-compatible servers and many more.

litellm is imported on the first request, in a thread, because its import takes seconds; importing this module does not
import it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import re
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from importlib import import_module
from time import monotonic
from typing import Any

import httpx

from greenloop.core.errors import ModelError, UsageError
from greenloop.core.ports import KeyStore
from greenloop.core.records.model import ChatRequest, Reply
from greenloop.core.records.usage import Usage
from greenloop.core.text.tokens import estimate_messages, estimate_tokens
from greenloop.models import provider_errors
from greenloop.models.embedded.default_model import ollama_base
from greenloop.models.known_models import known_context
from greenloop.project.settings import ApiSettings, Settings

CONNECT_SECONDS = 10.0
# Seconds between retries, doubled from the first to the last. A provider that asks to wait longer than the longest is
# not retried.
FIRST_PAUSE, LAST_PAUSE, LONGEST_PAUSE = 0.5, 8.0, 60.0
# Concurrent requests that stay within any provider's rate limit.
REMOTE_SLOTS = 4
OLLAMA = ("ollama/", "ollama_chat/")
KEY = re.compile(r"_API_KEY$")
KEY_NAMES = re.compile(r"(_API_KEY|_KEY|_TOKEN|_SECRET)$")


def create(name: str, settings: Settings, keys: KeyStore | None = None) -> LiteLLM:
    """Makes the model; `keys` is called on the first request if the environment lacks the key.

    Raises `ModelError` when `api.key` names an environment variable that is not set, and there is no `keys`.
    """
    if keys is None and settings.api.key and not os.environ.get(settings.api.key):
        raise ModelError(
            f"The environment variable {settings.api.key}, which `api.key` names, is not set.",
            remedy="Set it to the provider's key, or empty `api.key` to use the provider's usual variable.",
        )
    if not name:
        raise UsageError("No model is named.", remedy="Set `model`, for example to local or ollama/NAME.")
    return LiteLLM(name, settings, keys=keys)


class LiteLLM:
    """One named model, with retries of transient errors."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        *,
        keys: KeyStore | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self._name = name
        self._settings = settings
        self._keys = keys
        # The key provided for this run; it is kept nowhere else, least of all in the environment.
        self._key = ""
        self._unlocking: asyncio.Task[None] | None = None
        self._sleep = sleep
        self._rng = rng or random.Random()  # noqa: S311 - spreads retries, protects nothing

    @property
    def name(self) -> str:
        return self._name

    @property
    def slots(self) -> int:
        """Concurrent requests: for Ollama as many as OLLAMA_NUM_PARALLEL here (its server's value may differ)."""
        if not self._name.startswith(OLLAMA):
            return REMOTE_SLOTS
        number = os.environ.get("OLLAMA_NUM_PARALLEL", "")
        return max(1, int(number)) if number.isascii() and number.isdigit() else 1

    @property
    def context(self) -> int:
        return 0 if self._name.startswith(OLLAMA) else known_context(self._name)

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        """Retries transient errors up to `api.retries` times.

        Raises `ModelError` (`ContextTooLongError` when the prompt does not fit) with the remedy. The cost of broken
        answers is included in the usage of the complete one.
        """
        litellm = await asyncio.to_thread(_load)
        await self._unlocked(litellm)
        failed_usage = Usage(cost=0.0)
        retries = 0
        while True:
            pieces: list[str] = []
            began = monotonic()
            try:
                reply = await self._ask(litellm, request, pieces, on_token)
            except (litellm.exceptions.openai.OpenAIError, httpx.HTTPError, OSError) as error:
                pause = self._pause(error, retries)
                if pause is None:
                    raise self._problem(error) from error
                partial_text = "".join(pieces)
                prompt = estimate_messages(request.messages) if partial_text else 0
                failed_usage += self._usage(litellm, prompt, estimate_tokens(partial_text), monotonic() - began)
                retries += 1
                await self._sleep(pause)
            else:
                return Reply(text=reply.text, usage=failed_usage + reply.usage, model=reply.model, finish=reply.finish)

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """The price of these tokens in US dollars, without caching; None if unknown or litellm is not loaded yet.

        Local models cost nothing. Never imports litellm, which takes seconds; the first request does.
        """
        if self._name.startswith(OLLAMA):
            return 0.0
        litellm = sys.modules.get("litellm")
        return None if litellm is None else self._cost(litellm, prompt_tokens, completion_tokens)

    async def close(self) -> None:
        """Stops waiting for a key. litellm's connections stay open: they belong to the process, other runs use them."""
        if self._unlocking is not None:
            self._unlocking.cancel()

    async def _unlocked(self, litellm: Any) -> None:
        """Waits for the key that the environment lacks, if the editor can provide it. Asks only once."""
        if self._keys is None:
            return
        if self._unlocking is None:
            self._unlocking = asyncio.create_task(self._unlock(litellm, self._keys))
            # A run that is cancelled meanwhile never retrieves the exception.
            self._unlocking.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        await asyncio.shield(self._unlocking)

    async def _unlock(self, litellm: Any, keys: KeyStore) -> None:
        provider, variable = await asyncio.to_thread(unset_keys, litellm, self._name, self._settings.api)
        if not variable:
            return
        self._key = await keys(provider, variable) or ""
        if not self._key:
            raise ModelError(
                f"There is no key for {self._name}.",
                remedy=f"Give the editor a key for {provider}, or put one into the environment variable {variable}.",
            )

    async def _ask(
        self, litellm: Any, request: ChatRequest, pieces: list[str], on_token: Callable[[str], None]
    ) -> Reply:
        began = monotonic()
        finish, counts = "stop", None
        timeout = self._settings.api.timeout
        try:
            async with asyncio.timeout(timeout):
                stream = await litellm.acompletion(**self._arguments(request))
            # Closing tells the provider to stop generating, also when this task is cancelled.
            async with aclosing(stream):
                chunks = aiter(stream)
                while True:
                    try:
                        async with asyncio.timeout(timeout):
                            chunk = await anext(chunks)
                    except StopAsyncIteration:
                        break
                    counts = getattr(chunk, "usage", None) or counts
                    for choice in chunk.choices[:1]:
                        finish = choice.finish_reason or finish
                        if choice.delta.content:
                            pieces.append(choice.delta.content)
                            on_token(choice.delta.content)
        except TimeoutError as error:
            raise ModelError(
                f"{self._name} did not respond for {timeout:g} seconds.",
                remedy="Try again, raise `api.timeout`, or name another model.",
            ) from error
        text = "".join(pieces)
        usage = self._usage(
            litellm,
            getattr(counts, "prompt_tokens", None) or estimate_messages(request.messages),
            getattr(counts, "completion_tokens", None) or estimate_tokens(text),
            monotonic() - began,
            counts,
        )
        return Reply(text=text, usage=usage, model=self._name, finish="length" if finish == "length" else "stop")

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        api = self._settings.api
        provider, _, _ = self._name.partition("/")
        arguments: dict[str, Any] = {
            "model": self._name,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            # A little more than our own timeout, which distinguishes a silent model from a slow connection.
            "timeout": httpx.Timeout(api.timeout + 5, connect=min(CONNECT_SECONDS, api.timeout)),
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": True,
        }
        if request.seed is not None:
            arguments["seed"] = request.seed
        if request.stop:
            arguments["stop"] = list(request.stop)
        if request.frequency_penalty:
            arguments["frequency_penalty"] = request.frequency_penalty
        if api.base:
            arguments["api_base"] = api.base
        if self._key:
            arguments["api_key"] = self._key
        elif api.key:
            arguments["api_key"] = os.environ.get(api.key, "")
        elif api.base and provider == "openai" and not os.environ.get("OPENAI_API_KEY"):
            # Local servers need no key, but the client insists on one.
            arguments["api_key"] = "none"
        if self._name.startswith(OLLAMA):
            # The chat endpoint applies the model's own template; without `num_ctx` Ollama silently cuts long prompts.
            arguments["model"] = self._name.replace("ollama/", "ollama_chat/", 1)
            arguments["num_ctx"] = max(4096, self._settings.prompt.tokens + request.max_tokens + 256)
            if not api.base and not os.environ.get("OLLAMA_API_BASE"):
                arguments["api_base"] = ollama_base(os.environ)
        return arguments

    def _usage(self, litellm: Any, prompt: int, completion: int, seconds: float, counts: Any = None) -> Usage:
        details = getattr(counts, "prompt_tokens_details", None)
        return Usage(
            prompt_tokens=prompt,
            completion_tokens=completion,
            cached_tokens=getattr(details, "cached_tokens", None) or 0,
            cost=self._cost(litellm, prompt, completion, counts),
            model_seconds=seconds,
        )

    def _cost(self, litellm: Any, prompt: int, completion: int, counts: Any = None) -> float | None:
        """The cost if the price is known; a local model costs nothing."""
        if self._name.startswith(OLLAMA):
            return 0.0
        try:
            prices = litellm.cost_per_token(
                model=self._name, prompt_tokens=prompt, completion_tokens=completion, usage_object=counts
            )
            return float(sum(prices))
        except Exception:  # noqa: BLE001 - litellm raises many types for an unknown price
            return None

    def _pause(self, error: Exception, retries: int) -> float | None:
        """Seconds to wait before the request is retried; None: do not retry."""
        if retries >= self._settings.api.retries or not provider_errors.is_transient(error):
            return None
        requested = provider_errors.retry_after(error)
        if requested is not None:
            return requested if requested <= LONGEST_PAUSE else None
        return min(LAST_PAUSE, FIRST_PAUSE * 2.0**retries) * self._rng.uniform(0.5, 1.5)

    def _problem(self, error: Exception) -> ModelError:
        base = self._settings.api.base
        if not base and self._name.startswith(OLLAMA):
            base = os.environ.get("OLLAMA_API_BASE") or ollama_base(os.environ)
        names = [name for name in os.environ if KEY_NAMES.search(name)] + [self._settings.api.key]
        return provider_errors.explain_error(
            error,
            name=self._name,
            key=self._settings.api.key,
            base=base,
            secrets=[self._key, *(os.environ.get(name, "") for name in names)],
            key_from_editor=bool(self._key),
        )


def unset_keys(litellm: Any, name: str, api: ApiSettings) -> tuple[str, str]:
    """The provider of a model and the environment variable that lacks its key; both empty if no key is missing.

    Call it in a thread: it is slow, and some providers read files.
    """
    if name.startswith(OLLAMA):
        return "", ""
    try:
        provider = str(litellm.get_llm_provider(name)[1])
        if api.key or api.base:
            # A server set by the user needs the key in `api.key`, or none.
            return (provider, api.key) if api.key and not os.environ.get(api.key) else ("", "")
        validation = litellm.validate_environment(model=name)
    except Exception:  # noqa: BLE001 - litellm raises many types for an unknown model; the request explains it best
        return "", ""
    missing_keys = (
        [] if validation["keys_in_environment"] else [each for each in validation["missing_keys"] if KEY.search(each)]
    )
    own_keys = [each for each in missing_keys if each.startswith(provider.replace("_", "").upper())]
    return (provider, (own_keys or missing_keys)[0]) if missing_keys else ("", "")


def _load() -> Any:
    """Imports litellm so that it makes no network requests, reads no project's .env and prints nothing."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    litellm: Any = import_module("litellm")
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # The aiohttp transport leaves sessions open when the event loop ends.
    litellm.disable_aiohttp_transport = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm
