"""Models that are asked over the network: Ollama's, those of OpenAI and compatible servers, and all that litellm knows.

It must not know the language of a provider.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from time import monotonic
from typing import Any

import httpx

from greenloop.core.budget import count_prompt_tokens
from greenloop.core.errors import ModelError
from greenloop.core.ports import KeyStore
from greenloop.core.records.model import ChatRequest, Reply, Usage
from greenloop.core.text.tokens import estimate_tokens
from greenloop.models.chat import completions
from greenloop.models.chat.completions import Connection, RefusedError
from greenloop.models.default_model import ollama_base
from greenloop.plugins.remote_models import known_models, ollama, provider_errors, through_litellm
from greenloop.plugins.remote_models.checks import full_name, missing_key
from greenloop.plugins.remote_models.known_models import (
    DIRECT,
    OLLAMA,
    address_of,
    asks_directly,
    find_provider,
    key_variables,
)
from greenloop.plugins.remote_models.refusals import Refusals
from greenloop.plugins.remote_models.streamed import StreamedAnswer, read_usage
from greenloop.plugins.remote_models.through_litellm import Parameters, write_parameters
from greenloop.plugins.remote_models.waits import ServedSlots, Waits, stated_wait
from greenloop.project.settings import Settings

# Concurrent requests that stay within any provider's rate limit.
REMOTE_SLOTS = 4
# Providers whose server may be llama.cpp's, which says how many requests it answers at the same time.
SERVERS = ("openai/", "openai_like/", "hosted_vllm/", "llamafile/")
KEY_NAMES = re.compile(r"(_API_KEY|_KEY|_TOKEN|_SECRET)$")


class Remote:
    """One named model, with retries of transient errors, which remembers what its provider refuses."""

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
        self._full_name = full_name(name, settings.api)
        self._settings = settings
        self._keys = keys
        # The key provided for this run; it is kept nowhere else, least of all in the environment.
        self._key = ""
        self._unlocking: asyncio.Task[None] | None = None
        self._served = ServedSlots()
        self._client: httpx.AsyncClient | None = None
        self._sleep = sleep
        self._rng = rng or random.Random()  # noqa: S311 - spreads retries, protects nothing
        self._refusals = Refusals()
        self._has_answered = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def slots(self) -> int:
        """Concurrent requests: as set; for Ollama OLLAMA_NUM_PARALLEL here; else as the server says, or a few."""
        if self._settings.api.slots:
            return self._settings.api.slots
        if not self._name.startswith(OLLAMA):
            return self._served.number or REMOTE_SLOTS
        number = os.environ.get("OLLAMA_NUM_PARALLEL", "")
        return max(1, int(number)) if number.isascii() and number.isdigit() else 1

    @property
    def context(self) -> int:
        return 0 if self._name.startswith(OLLAMA) else known_models.known_context(self._name)

    @property
    def calls_tools(self) -> bool:
        """Does the model take tools, as far as is known? Known is what the table says and what was refused."""
        return not known_models.refuses_tools(self._full_name) and "tools" not in self._refusals.left_out

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        """Retries transient errors up to `api.retries` times, and waits for an overloaded provider within `patience`.

        Raises `ModelError` (`ContextTooLongError` when the prompt does not fit) with the remedy. The cost of broken
        answers is included in the usage of the complete one.
        """
        await self._unlocked()
        api = self._settings.api
        if api.base and not api.slots and self._name.startswith(SERVERS):
            self._served.ask(api.base, self._key or os.environ.get(api.key, ""))
        waits = Waits(retries=api.retries, patience=request.patience, rng=self._rng)
        failed_usage = Usage(cost=0.0)
        while True:
            parameters = write_parameters(request, self._full_name, self._settings, self._refusals)
            answer = StreamedAnswer(provider=find_provider(self._full_name), on_token=on_token)
            errors: tuple[type[Exception], ...] = (RefusedError, httpx.HTTPError, OSError)
            if not asks_directly(parameters["model"]):
                errors = (*errors, (await asyncio.to_thread(through_litellm.load)).exceptions.openai.OpenAIError)
            began = monotonic()
            try:
                await self._ask(parameters, answer)
            except errors as raised:
                error = getattr(raised, "original_exception", None) or raised
                if self._refusals.learn(error, parameters, {name for each in parameters["messages"] for name in each}):
                    continue
                pause = waits.pause_after(error)
                if pause is None:
                    raise self._problem(error) from raised
                if answer.written_tokens:
                    answer.counts = None  # the provider counts at the end, which did not come
                    failed_usage += self._usage(request, answer, monotonic() - began)
                await self._sleep(pause)
            else:
                self._has_answered = True
                usage = failed_usage + self._usage(request, answer, monotonic() - began)
                return Reply(
                    text=answer.text,
                    usage=usage,
                    model=self._name,
                    finish="length" if answer.finish == "length" else "stop",
                    calls=answer.calls,
                    extra=answer.extra,
                )

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """The price of these tokens in US dollars, without caching; None if unknown, or known to litellm alone so far.

        Local models cost nothing. Never imports litellm, which takes seconds; the first request does.
        """
        return self._cost(Usage(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens))

    async def close(self) -> None:
        """Stops waiting for a key, and closes the client."""
        if self._unlocking is not None:
            self._unlocking.cancel()
        if self._client is not None:
            await self._client.aclose()
            self._client = None
        await self._served.close()

    async def _unlocked(self) -> None:
        """Waits for the key that the environment lacks, if the editor can provide it. Asks only once."""
        if self._keys is None:
            return
        if self._unlocking is None:
            self._unlocking = asyncio.create_task(self._unlock(self._keys))
            # A run that is cancelled meanwhile never retrieves the exception.
            self._unlocking.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        await asyncio.shield(self._unlocking)

    async def _unlock(self, keys: KeyStore) -> None:
        provider, variable = missing_key(self._name, self._settings.api)
        if not variable:
            return
        self._key = await keys(provider, variable) or ""
        if not self._key:
            raise ModelError(
                f"There is no key for {self._name}.",
                remedy=f"Give the editor a key for {provider}, or put one into the environment variable {variable}.",
            )

    async def _ask(self, parameters: Parameters, answer: StreamedAnswer) -> None:
        """Streams the answer. Raises `ConnectionError` where the stream ends before the answer does."""
        timeout = self._settings.api.timeout
        try:
            async with aclosing(self._stream(parameters)) as pieces:
                while True:
                    try:
                        async with asyncio.timeout(timeout):
                            answer.add(await anext(pieces))
                    except StopAsyncIteration:
                        break
        except (TimeoutError, httpx.ReadTimeout) as error:
            raise ModelError(
                f"{self._name} did not respond for {timeout:g} seconds.",
                remedy="Try again, raise `api.timeout`, or name another model.",
            ) from error
        answer.end()

    def _stream(self, parameters: Parameters) -> AsyncGenerator[Any, None]:
        model = parameters["model"]
        connection = Connection(base=self._base(), key=self._key_of(model), seconds=self._settings.api.timeout)
        if not asks_directly(model):
            return through_litellm.stream(parameters, connection)
        if not connection.base:
            raise ModelError(
                f"There is no address for {self._name}.",
                remedy="Put that of its server into `api.base`, or name another model.",
            )
        if connection.base == DIRECT["openai"][0] and not connection.key:
            raise ModelError(
                f"There is no key for {self._name}.",
                remedy="Put one into the environment variable OPENAI_API_KEY, or name another variable in `api.key`.",
            )
        stream = ollama.stream if self._name.startswith(OLLAMA) else completions.stream
        self._client = self._client or completions.open_client()
        return stream({**parameters, "model": model.partition("/")[2]}, connection, self._client)

    def _base(self) -> str:
        """The address that the model is asked at; empty for the one that litellm knows."""
        if base := self._settings.api.base:
            return base
        if self._name.startswith(OLLAMA):
            return os.environ.get("OLLAMA_API_BASE") or ollama_base(os.environ)
        return address_of(find_provider(self._full_name)) if asks_directly(self._full_name) else ""

    def _key_of(self, model: str) -> str:
        """The key that is sent; empty where litellm finds it."""
        api, variables = self._settings.api, key_variables(find_provider(self._full_name))
        if self._key or api.key:
            return self._key or os.environ.get(api.key, "")
        key = next(filter(None, map(os.environ.get, variables)), "")
        if asks_directly(model):
            return key
        # A server of the user's own needs no key, but litellm's clients insist on one.
        return "none" if api.base and variables and not key else ""

    def _usage(self, request: ChatRequest, answer: StreamedAnswer, seconds: float) -> Usage:
        estimate = count_prompt_tokens(request, estimate_tokens)
        usage = read_usage(answer.counts, prompt_estimate=estimate, answer_estimate=answer.written_tokens)
        return replace(usage, cost=self._cost(usage, answer.counts), model_seconds=seconds)

    def _cost(self, usage: Usage, counts: Any = None) -> float | None:
        """The cost if the price is known; a local model costs nothing."""
        if self._name.startswith(OLLAMA):
            return 0.0
        if asks_directly(self._full_name):
            return known_models.cost(self._full_name, usage)
        litellm = sys.modules.get("litellm")
        return None if litellm is None else through_litellm.cost(litellm, self._full_name, usage, counts)

    def _problem(self, error: Exception) -> ModelError:
        api = self._settings.api
        base = api.base or (self._base() if self._name.startswith(OLLAMA) else "")
        names = [name for name in os.environ if KEY_NAMES.search(name)] + [api.key]
        provider = find_provider(self._full_name) or self._full_name.partition("/")[0]
        asked = provider_errors.Asked(
            name=self._name,
            provider=provider,
            variable=api.key or next(iter(key_variables(provider)), f"{provider.upper()}_API_KEY"),
            base=base,
            key_from_editor=bool(self._key),
            has_answered=self._has_answered,
            wait=stated_wait(error),
        )
        return provider_errors.explain_error(
            error, asked, secrets=[self._key, *(os.environ.get(name, "") for name in names)]
        )
