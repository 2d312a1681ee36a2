"""Any model that litellm can reach: OpenAI, Anthropic, Ollama, OpenAI-compatible servers and many more.

litellm is imported on the first request, in a thread: its import takes seconds. Importing this module leaves it alone.
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

from greenloop.core import refusals
from greenloop.core.errors import ModelProblem, UsageProblem
from greenloop.core.nouns import Completion, Reply, Usage
from greenloop.core.ports import Keys
from greenloop.core.tokens import estimate, estimate_messages
from greenloop.embedded.choice import ollama_base
from greenloop.settings import ApiSettings, Settings

CONNECT_SECONDS = 10.0
# Seconds between repeats: doubled from the first to the last; nobody is waited for longer than the longest.
FIRST_PAUSE, LAST_PAUSE, LONGEST_PAUSE = 0.5, 8.0, 60.0
# Requests side by side that no provider's rate limit minds.
REMOTE_SLOTS = 4
OLLAMA = ("ollama/", "ollama_chat/")
KEY = re.compile(r"_API_KEY$")
KEY_NAMES = re.compile(r"(_API_KEY|_KEY|_TOKEN|_SECRET)$")


def create(name: str, settings: Settings) -> LiteLLM:
    """Raises `ModelProblem` when `api.key` names an environment variable that is not set."""
    if settings.api.key and not os.environ.get(settings.api.key):
        raise ModelProblem(
            f"The environment variable {settings.api.key}, which `api.key` names, is not set.",
            remedy="Set it to the provider's key, or empty `api.key` to use the provider's usual variable.",
        )
    return keyed(name, settings, None)


def keyed(name: str, settings: Settings, keys: Keys | None) -> LiteLLM:
    """As `create`; `keys` is asked for a key that the environment does not have, when it is needed."""
    if not name:
        raise UsageProblem("No model is named.", remedy="Set `model`, for example to local or ollama/NAME.")
    return LiteLLM(name, settings, keys=keys)


class LiteLLM:
    """One named model, and how patient its caller is."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        *,
        keys: Keys | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self._name = name
        self._settings = settings
        self._keys = keys
        # The one that was handed over for this run; it is nowhere else, least of all in the environment.
        self._key = ""
        self._unlocking: asyncio.Task[None] | None = None
        self._sleep = sleep
        self._rng = rng or random.Random()  # noqa: S311 - spreads repeats, hides nothing

    @property
    def name(self) -> str:
        return self._name

    @property
    def slots(self) -> int:
        """Providers answer many at once; Ollama as many as its environment says (its own may differ from ours)."""
        if not self._name.startswith(OLLAMA):
            return REMOTE_SLOTS
        number = os.environ.get("OLLAMA_NUM_PARALLEL", "")
        return max(1, int(number)) if number.isascii() and number.isdigit() else 1

    async def complete(self, request: Completion, on_token: Callable[[str], None]) -> Reply:
        """Repeats transient errors up to `api.retries` times.

        Raises `ModelProblem` (`ContextTooLong` when the prompt does not fit) with the remedy. What broken answers cost
        is in the usage of the one that came through.
        """
        litellm = await asyncio.to_thread(_load)
        await self._unlocked(litellm)
        spent = Usage(cost=0.0)
        repeats = 0
        while True:
            pieces: list[str] = []
            began = monotonic()
            try:
                reply = await self._ask(litellm, request, pieces, on_token)
            except (litellm.exceptions.openai.OpenAIError, httpx.HTTPError, OSError) as error:
                pause = self._pause(error, repeats)
                if pause is None:
                    raise self._problem(error) from error
                lost = "".join(pieces)
                prompt = estimate_messages(request.messages) if lost else 0
                spent += self._usage(litellm, prompt, estimate(lost), monotonic() - began)
                repeats += 1
                await self._sleep(pause)
            else:
                return Reply(text=reply.text, usage=spent + reply.usage, model=reply.model, finish=reply.finish)

    def count_tokens(self, text: str) -> int:
        return estimate(text)

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """US dollars that so many tokens cost without any cache; None: unknown, or litellm is not loaded yet.

        Models at home cost nothing. Never imports litellm, which takes seconds: the first request does.
        """
        if self._name.startswith(OLLAMA):
            return 0.0
        litellm = sys.modules.get("litellm")
        return None if litellm is None else self._cost(litellm, prompt_tokens, completion_tokens)

    async def close(self) -> None:
        """Asks for a key no longer. litellm's connections belong to the process, and another run may be using them."""
        if self._unlocking is not None:
            self._unlocking.cancel()

    async def _unlocked(self, litellm: Any) -> None:
        """Has the key that the environment lacks, where somebody keeps it. Asked once, whatever comes of it."""
        if self._keys is None:
            return
        if self._unlocking is None:
            self._unlocking = asyncio.create_task(self._unlock(litellm, self._keys))
            # A run that is cancelled meanwhile does not look at it.
            self._unlocking.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        await asyncio.shield(self._unlocking)

    async def _unlock(self, litellm: Any, keys: Keys) -> None:
        provider, variable = await asyncio.to_thread(lacking, litellm, self._name, self._settings.api)
        if not variable:
            return
        self._key = await keys(provider, variable) or ""
        if not self._key:
            raise ModelProblem(
                f"There is no key for {self._name}.",
                remedy=f"Give the editor a key for {provider}, or put one into the environment variable {variable}.",
            )

    async def _ask(
        self, litellm: Any, request: Completion, pieces: list[str], on_token: Callable[[str], None]
    ) -> Reply:
        began = monotonic()
        finish, counts = "stop", None
        patience = self._settings.api.timeout
        try:
            async with asyncio.timeout(patience):
                stream = await litellm.acompletion(**self._arguments(request))
            # Closing tells the provider to stop writing, also when this task is cancelled.
            async with aclosing(stream):
                chunks = aiter(stream)
                while True:
                    try:
                        async with asyncio.timeout(patience):
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
            raise ModelProblem(
                f"{self._name} gave no sign of life for {patience:g} seconds.",
                remedy="Try again, raise `api.timeout`, or name another model.",
            ) from error
        text = "".join(pieces)
        usage = self._usage(
            litellm,
            getattr(counts, "prompt_tokens", None) or estimate_messages(request.messages),
            getattr(counts, "completion_tokens", None) or estimate(text),
            monotonic() - began,
            counts,
        )
        return Reply(text=text, usage=usage, model=self._name, finish="length" if finish == "length" else "stop")

    def _arguments(self, request: Completion) -> dict[str, Any]:
        api = self._settings.api
        provider, _, _ = self._name.partition("/")
        arguments: dict[str, Any] = {
            "model": self._name,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            # A little more than our own patience, which tells a silent model from a slow connection.
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
            # Servers at home want none, the client insists on one.
            arguments["api_key"] = "none"
        if self._name.startswith(OLLAMA):
            # The chat door applies the model's own template; unasked, Ollama cuts long prompts without a word.
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
        """Priced where the price is known; a model at home costs nothing."""
        if self._name.startswith(OLLAMA):
            return 0.0
        try:
            prices = litellm.cost_per_token(
                model=self._name, prompt_tokens=prompt, completion_tokens=completion, usage_object=counts
            )
            return float(sum(prices))
        except Exception:  # noqa: BLE001 - litellm says in many ways that it knows no price
            return None

    def _pause(self, error: Exception, repeats: int) -> float | None:
        """Seconds to wait before the request is repeated; None: do not repeat it."""
        if repeats >= self._settings.api.retries or not refusals.transient(error):
            return None
        asked = refusals.retry_after(error)
        if asked is not None:
            return asked if asked <= LONGEST_PAUSE else None
        return min(LAST_PAUSE, FIRST_PAUSE * 2.0**repeats) * self._rng.uniform(0.5, 1.5)

    def _problem(self, error: Exception) -> ModelProblem:
        base = self._settings.api.base
        if not base and self._name.startswith(OLLAMA):
            base = os.environ.get("OLLAMA_API_BASE") or ollama_base(os.environ)
        names = [name for name in os.environ if KEY_NAMES.search(name)] + [self._settings.api.key]
        return refusals.problem(
            error,
            name=self._name,
            key=self._settings.api.key,
            base=base,
            secrets=[self._key, *(os.environ.get(name, "") for name in names)],
            kept=bool(self._key),
        )


def lacking(litellm: Any, name: str, api: ApiSettings) -> tuple[str, str]:
    """The provider of a model, and the environment variable in which its key is missing; empty where none is.

    Slow, and some providers look into files: for a thread.
    """
    if name.startswith(OLLAMA):
        return "", ""
    try:
        provider = str(litellm.get_llm_provider(name)[1])
        if api.key or api.base:
            # A server of one's own wants the key that is named for it, or none.
            return (provider, api.key) if api.key and not os.environ.get(api.key) else ("", "")
        found = litellm.validate_environment(model=name)
    except Exception:  # noqa: BLE001 - litellm says in many ways that it knows no such model; asking it says it best
        return "", ""
    missing = [] if found["keys_in_environment"] else [each for each in found["missing_keys"] if KEY.search(each)]
    usual = [each for each in missing if each.startswith(provider.replace("_", "").upper())]
    return (provider, (usual or missing)[0]) if missing else ("", "")


def _load() -> Any:
    """litellm, imported so that it asks no network, reads no project's .env and prints nothing."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    litellm: Any = import_module("litellm")
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # Its other transport leaves sessions open when the event loop ends.
    litellm.disable_aiohttp_transport = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm
