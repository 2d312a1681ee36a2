"""Explains errors of a model provider or its connection: a sentence, a remedy, and whether to retry.

Classifies an exception by its status, its class name and its message, without knowing which library raised it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from greenloop.core.errors import ContextTooLongError, ModelError
from greenloop.core.text.redact import MASK, redact
from greenloop.models.proxy import proxy_clause

TRANSIENT = {408, 409, 425, 429, 500, 502, 503, 504, 529}
OUT_OF_QUOTA = re.compile(
    r"insufficient[ _]quota|exceeded your current quota|credit balance|payment required|billing hard limit",
    re.IGNORECASE,
)
TOO_LONG = re.compile(
    r"context[ _](length|size|window)|maximum context|prompt is too long|too many (input )?tokens", re.IGNORECASE
)
UNREACHABLE = re.compile(
    r"connection refused|connect call failed|all connection attempts failed|name or service not known|"
    r"temporary failure in name resolution",
    re.IGNORECASE,
)
BROKEN = re.compile(r"connection error|peer closed connection|server disconnected", re.IGNORECASE)
NO_KEY = re.compile(r"missing credentials|missing [\w ]*api[ _]key|api_key.{0,40}must be set", re.IGNORECASE)
KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|xai|hf|ghp)[-_][\w*-]{6,}|\bAIza[\w-]{20,}|(?<=Bearer )\S+")
LINE = 200


def is_transient(error: Exception) -> bool:
    """May the same request succeed a little later?"""
    if OUT_OF_QUOTA.search(str(error)) or NO_KEY.search(str(error)) or _is_too_long(error):
        return False
    return (
        isinstance(error, OSError)
        or _is_class_named(error, "Timeout", "Connect", "Protocol")
        or _status(error) in TRANSIENT
    )


def retry_after(error: Exception) -> float | None:
    """The seconds that the provider asked to wait, or None (a date is not understood)."""
    headers = getattr(error, "litellm_response_headers", None)
    headers = headers or getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None


def explain_error(
    error: Exception, *, name: str, key: str, base: str, secrets: Iterable[str], key_from_editor: bool = False
) -> ModelError:
    """The problem to show to the user.

    `name` is the model; `key`, the variable that holds its API key, and `base`, its address, are as set by the user, or
    empty. `secrets` are values that must not be shown; `key_from_editor`: the editor provided the key.
    """
    message = KEY_LIKE.sub(MASK, redact(" ".join(str(error).split()), secrets))
    provider = name.partition("/")[0]
    return (
        _about_request(error, message, name, provider)
        or _about_account(error, message, name, provider, key, key_from_editor=key_from_editor)
        or _about_connection(error, message, name, provider, base)
        or ModelError(
            f"{provider} rejected the request: {_shorten(message)}",
            remedy="Check the model's name and `api.base`, or name another model.",
        )
    )


def _about_request(error: Exception, message: str, model: str, provider: str) -> ModelError | None:
    if _is_too_long(error):
        return ContextTooLongError(
            f"The prompt is too long for the context of {model}.",
            remedy="Lower `prompt.tokens`, or name a model with a larger context.",
        )
    if "LLM Provider NOT provided" in message or _is_class_named(error, "UnknownProvider"):
        return ModelError(
            f"No provider is known for the model '{model}'.",
            remedy="Write it as provider/model, such as ollama/llama3.2 or openai/gpt-4o, or `local`.",
        )
    if _status(error) == 404:
        action = (
            f"Run `ollama pull {model.partition('/')[2]}`" if provider.startswith("ollama") else "Check its spelling"
        )
        return ModelError(f"{provider} does not know the model {model}.", remedy=f"{action}, or name another model.")
    return None


def _about_account(
    error: Exception, message: str, model: str, provider: str, key: str, *, key_from_editor: bool
) -> ModelError | None:
    status = _status(error)
    no_key = NO_KEY.search(message)
    if status in {401, 403} or no_key:
        variable = key or f"{provider.upper()}_API_KEY"
        remedy = f"Put a valid key into the environment variable {variable}, or name another variable in `api.key`."
        if key_from_editor:
            remedy = f"Give the editor another key for {provider}."
        return ModelError(
            f"There is no key for {model}." if no_key else f"{provider} did not accept the key for {model}.",
            remedy=remedy,
        )
    if status == 402 or OUT_OF_QUOTA.search(message):
        return ModelError(f"The quota for {model} is used up.", remedy="Check the account, or name another model.")
    if status == 429:
        wait_seconds = retry_after(error)
        when = f"in {wait_seconds:.0f} seconds" if wait_seconds else "later"
        return ModelError(
            f"{provider} limits the rate of requests to {model}.", remedy=f"Try again {when}, or name another model."
        )
    return None


def _about_connection(error: Exception, message: str, model: str, provider: str, base: str) -> ModelError | None:
    status = _status(error)
    if _is_unreachable(error, message):
        if provider.startswith("ollama"):
            return ModelError(
                f"No Ollama answers at {base}.", remedy="Start it with `ollama serve`, or set `api.base`."
            )
        address = f" at {base}" if base else ""
        return ModelError(
            f"{model} cannot be reached{address}{proxy_clause()}.", remedy="Check the network and `api.base`."
        )
    if _is_class_named(error, "Timeout"):
        return ModelError(f"{model} did not answer in time.", remedy="Try again, or raise `api.timeout`.")
    # litellm calls a broken connection a server error.
    if status is not None and status >= 500 and not BROKEN.search(message):
        return ModelError(f"{provider} returned an error ({status}): {_shorten(message)}", remedy="Try again later.")
    if BROKEN.search(message) or _is_class_named(error, "Connect", "Protocol") or isinstance(error, OSError):
        return ModelError(
            f"The connection to {model} was lost: {_shorten(message)}", remedy="Check the network and try again."
        )
    return None


def _status(error: Exception) -> int | None:
    """The HTTP status of the provider's answer. litellm invents one if there was no answer; that one is ignored."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and not _is_class_named(error, "Connection", "Timeout") else None


def _is_too_long(error: Exception) -> bool:
    return _is_class_named(error, "ContextWindow") or (
        _status(error) in {400, 413, 422, 500} and bool(TOO_LONG.search(str(error)))
    )


def _is_unreachable(error: Exception, message: str) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if type(cause).__name__ in {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"}:
            return True
        cause = cause.__cause__ or cause.__context__
    return bool(UNREACHABLE.search(message))


def _is_class_named(error: Exception, *words: str) -> bool:
    return any(word in type(error).__name__ for word in words)


def _shorten(message: str) -> str:
    """The provider's message without litellm's prefixes, cut to a line and ending like a sentence."""
    message = re.split(r" (?:Original exception: |Traceback \()", message)[0]
    message = re.sub(r"^((litellm\.)?\w+(Error|Exception|Timeout)( - |: ))+", "", message)
    message = message if len(message) <= LINE else message[: LINE - 1] + "…"
    return message if message.endswith((".", "!", "?", "…")) else message + "."
