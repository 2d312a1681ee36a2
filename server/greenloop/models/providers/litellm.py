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
import warnings
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from importlib import import_module
from time import monotonic
from typing import Any

import httpx

from greenloop.core.budget import count_prompt_tokens
from greenloop.core.errors import ModelError
from greenloop.core.ports import KeyStore
from greenloop.core.records.model import ChatRequest, Reply
from greenloop.core.records.usage import Usage
from greenloop.core.text.tokens import estimate_tokens
from greenloop.models import known_models, provider_errors
from greenloop.models.chat.corrections import correct
from greenloop.models.chat.parameters import Parameters, write_parameters
from greenloop.models.chat.refusals import Refusals
from greenloop.models.chat.streamed import StreamedAnswer
from greenloop.models.chat.usage import read_usage
from greenloop.models.chat.waits import Waits, stated_wait
from greenloop.models.checks import check, full_name, missing_key
from greenloop.models.embedded.default_model import ollama_base
from greenloop.models.known_providers import OLLAMA, find_provider, key_variables
from greenloop.models.served_slots import ServedSlots
from greenloop.project.settings import Settings

# litellm sets such filters while it is imported, in a thread, and whoever parses code meanwhile would take it back.
warnings.filterwarnings("ignore", category=UserWarning, module="pydantic")

CONNECT_SECONDS = 10.0
# Concurrent requests that stay within any provider's rate limit.
REMOTE_SLOTS = 4
# Providers whose server may be llama.cpp's, which says how many requests it answers at the same time.
SERVERS = ("openai/", "openai_like/", "hosted_vllm/", "llamafile/")
KEY_NAMES = re.compile(r"(_API_KEY|_KEY|_TOKEN|_SECRET)$")


def create(name: str, settings: Settings, keys: KeyStore | None = None) -> LiteLLM:
    """Makes the model; `keys` is called on the first request if the environment lacks the key.

    Raises `ModelError` for a name that nobody knows, and for a missing key where there is no `keys`.
    """
    check(name, settings, needs_key=keys is None)
    return LiteLLM(name, settings, keys=keys)


class LiteLLM:
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
        litellm = await asyncio.to_thread(_load)
        correct(litellm, self._full_name)
        await self._unlocked()
        api = self._settings.api
        if api.base and not api.slots and self._name.startswith(SERVERS):
            self._served.ask(api.base, self._key or os.environ.get(api.key, ""))
        waits = Waits(retries=api.retries, patience=request.patience, rng=self._rng)
        failed_usage = Usage(cost=0.0)
        while True:
            parameters = write_parameters(request, self._full_name, self._settings, self._refusals)
            answer = StreamedAnswer(provider=find_provider(self._full_name), on_token=on_token)
            began = monotonic()
            try:
                await self._ask(litellm, parameters, answer)
            except (litellm.exceptions.openai.OpenAIError, httpx.HTTPError, OSError) as raised:
                error = getattr(raised, "original_exception", None) or raised
                if self._refusals.learn(error, parameters, {name for each in parameters["messages"] for name in each}):
                    continue
                pause = waits.pause_after(error)
                if pause is None:
                    raise self._problem(error) from raised
                if answer.written_tokens:
                    answer.counts = None  # the provider counts at the end, which did not come
                    failed_usage += self._usage(litellm, request, answer, monotonic() - began)
                await self._sleep(pause)
            else:
                self._has_answered = True
                usage = failed_usage + self._usage(litellm, request, answer, monotonic() - began)
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

    async def _ask(self, litellm: Any, parameters: Parameters, answer: StreamedAnswer) -> None:
        """Streams the answer. Raises `ConnectionError` where the stream ends before the answer does."""
        timeout = self._settings.api.timeout
        try:
            async with asyncio.timeout(timeout):
                stream = await litellm.acompletion(**parameters, **self._connection())
            # Closing tells the provider to stop generating, also when this task is cancelled.
            async with aclosing(stream):
                chunks = aiter(stream)
                while True:
                    try:
                        async with asyncio.timeout(timeout):
                            answer.add(await anext(chunks))
                    except StopAsyncIteration:
                        break
        except TimeoutError as error:
            raise ModelError(
                f"{self._name} did not respond for {timeout:g} seconds.",
                remedy="Try again, raise `api.timeout`, or name another model.",
            ) from error
        answer.end()
        # litellm makes up a reason for the end and counts tokens itself where the provider did not.
        if not (stream.received_finish_reason or stream.intermittent_finish_reason):
            raise ConnectionError("the answer ended early")
        if not any(getattr(chunk, "usage", None) for chunk in stream.chunks):
            answer.counts = None

    def _connection(self) -> dict[str, Any]:
        """The address, key and times of a request."""
        api = self._settings.api
        arguments: dict[str, Any] = {
            # A little more than our own timeout, which distinguishes a silent model from a slow connection.
            "timeout": httpx.Timeout(api.timeout + 5, connect=min(CONNECT_SECONDS, api.timeout)),
            "max_retries": 0,
            "num_retries": 0,
        }
        if api.base:
            arguments["api_base"] = api.base
        elif self._name.startswith(OLLAMA) and not os.environ.get("OLLAMA_API_BASE"):
            arguments["api_base"] = ollama_base(os.environ)
        variables = key_variables(find_provider(self._full_name))
        if self._key:
            arguments["api_key"] = self._key
        elif api.key:
            arguments["api_key"] = os.environ.get(api.key, "")
        elif api.base and variables and not any(map(os.environ.get, variables)):
            # A server of the user's own needs no key, but the clients insist on one.
            arguments["api_key"] = "none"
        return arguments

    def _usage(self, litellm: Any, request: ChatRequest, answer: StreamedAnswer, seconds: float) -> Usage:
        estimate = count_prompt_tokens(request, estimate_tokens)
        usage = read_usage(answer.counts, prompt_estimate=estimate, answer_estimate=answer.written_tokens)
        cost = self._cost(litellm, usage.prompt_tokens, usage.completion_tokens, answer.counts)
        return replace(usage, cost=cost, model_seconds=seconds)

    def _cost(self, litellm: Any, prompt: int, completion: int, counts: Any = None) -> float | None:
        """The cost if the price is known; a local model costs nothing."""
        if self._name.startswith(OLLAMA):
            return 0.0
        try:
            name = self._full_name.replace("openai/responses/", "openai/")
            prices = litellm.cost_per_token(
                model=name, prompt_tokens=prompt, completion_tokens=completion, usage_object=counts
            )
            return float(sum(prices))
        except Exception:  # noqa: BLE001 - litellm raises many types for an unknown price
            return None

    def _problem(self, error: Exception) -> ModelError:
        api = self._settings.api
        base = api.base
        if not base and self._name.startswith(OLLAMA):
            base = os.environ.get("OLLAMA_API_BASE") or ollama_base(os.environ)
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
