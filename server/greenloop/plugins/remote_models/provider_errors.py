"""Explains errors of a model provider or its connection: a sentence, a remedy, and whether to retry.

Classifies an exception by its status, its class name and its message, without knowing which library raised it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from greenloop.core.errors import TOO_LONG, ContextTooLongError, ModelError
from greenloop.core.text.redact import MASK, redact
from greenloop.models.proxy import proxy_clause

TRANSIENT = {408, 409, 425, 429, 500, 502, 503, 504, 529}
OUT_OF_QUOTA = re.compile(
    r"insufficient[ _]quota|exceeded your current quota|credit balance|payment required|billing hard limit",
    re.IGNORECASE,
)
OVERLOADED = {429, 503, 529}
BUSY = re.compile(r"overloaded|rate limit|too many requests|resource[ _]exhausted|at capacity", re.IGNORECASE)
STATED = re.compile(r'"(?:message|error)": ?"((?:[^"\\]|\\.)+)"')  # the sentence in a body of JSON
LIMITED = re.compile(r"retry in|retryDelay", re.IGNORECASE)  # what Gemini calls a quota may be that of a minute
TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)  # for what an account may ask in a minute
UNREACHABLE = re.compile(
    r"connection refused|connect call failed|all connection attempts failed|name or service not known|"
    r"temporary failure in name resolution",
    re.IGNORECASE,
)
BROKEN = re.compile(r"connection error|peer closed connection|server disconnected", re.IGNORECASE)
NO_KEY = re.compile(r"missing credentials|missing [\w ]*api[ _]key|api_key.{0,40}must be set", re.IGNORECASE)
BAD_KEY = re.compile(r"api key (?:expired|not valid|not found)", re.IGNORECASE)  # which is not always a 401
KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|xai|hf|ghp)[-_][\w*-]{6,}|\bAIza[\w-]{20,}|(?<=Bearer )\S+")
LINE = 200


def is_transient(error: Exception) -> bool:
    """May the same request succeed a little later?"""
    if _is_out_of_quota(str(error)) or NO_KEY.search(str(error)) or is_too_long(error) or _failed_import(error):
        return False
    return (
        isinstance(error, OSError)
        or _is_class_named(error, "Timeout", "Connect", "Protocol")
        or status_of(error) in TRANSIENT
    )


def is_overloaded(error: Exception) -> bool:
    """Would the provider answer if it had more time for this user, or fewer users? Its status may be another."""
    return status_of(error) in OVERLOADED or bool(BUSY.search(str(error)))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The model that was asked: its name and provider, the variable of its key, and its address if it is the user's.

    `key_from_editor`: the editor provided the key. `has_answered`: it accepted the key before.
    `wait`: seconds that it asks to wait.
    """

    name: str
    provider: str
    variable: str
    base: str = ""
    key_from_editor: bool = False
    has_answered: bool = False
    wait: float | None = None


def explain_error(error: Exception, asked: Asked, secrets: Iterable[str]) -> ModelError:
    """The problem to show to the user; `secrets` are values that must not be shown."""
    message = KEY_LIKE.sub(MASK, redact(" ".join(str(error).split()), secrets))
    if is_too_long(error) and not _failed_import(error):
        return ContextTooLongError(
            f"The prompt is too long for the context of {asked.name}.",
            remedy="Lower `prompt.tokens`, or name a model with a larger context.",
        )
    rows = (*_about_request(error, message, asked), *_about_connection(error, message, asked))
    sentence, remedy = next((sentence, remedy) for holds, sentence, remedy in rows if holds)
    return ModelError(sentence, remedy=remedy)


Row = tuple[object, str, str]  # does it hold, and if it is the first: the sentence and the remedy


def _about_request(error: Exception, message: str, asked: Asked) -> Iterator[Row]:
    """Yields the errors in which the provider refuses the request, or the account that it comes from."""
    model, provider, status, said = asked.name, asked.provider, status_of(error), _shorten(message)
    no_key = NO_KEY.search(message)
    yield (
        _failed_import(error),
        f"A Python package that models are asked with cannot be imported: {said}",
        "Install greenloop again, or the package that is named, in the environment that has greenloop.",
    )
    yield (
        "LLM Provider NOT provided" in message or _is_class_named(error, "UnknownProvider"),
        f"No provider is known for the model '{model}'.",
        "Write it as provider/model, such as ollama/llama3.2 or openai/gpt-4o, or `local`.",
    )
    pull = f"Run `ollama pull {model.partition('/')[2]}`" if provider.startswith("ollama") else "Check its spelling"
    yield status == 404, f"{provider} does not know the model {model}.", f"{pull}, or name another model."
    sentence = f"{provider} did not accept the key for {model}."
    if no_key:
        sentence = f"There is no key for {model}."
    elif asked.has_answered:
        sentence = f"{provider} no longer accepts the key for {model}, which it accepted before."
    key = f"Put a valid key into the environment variable {asked.variable}, or name another variable in `api.key`."
    remedy = f"Give the editor another key for {provider}." if asked.key_from_editor else key
    yield status in {401, 403} or no_key or BAD_KEY.search(message), sentence, remedy
    is_used_up = status == 402 or _is_out_of_quota(str(error))
    yield is_used_up, f"The quota for {model} is used up.", "Check the account, or name another model."
    again = f"Try again in {asked.wait:.0f} seconds" if asked.wait else "Try again later"
    yield status == 429, f"{provider} limits the rate of requests to {model}.", f"{again}, or name another model."
    yield is_overloaded(error), f"{provider} is overloaded: {said}", f"{again}."


def _about_connection(error: Exception, message: str, asked: Asked) -> Iterator[Row]:
    """Yields the errors of the connection; the last row always holds."""
    model, provider, status, said = asked.name, asked.provider, status_of(error), _shorten(message)
    is_unreachable, is_ollama = _is_unreachable(error, message), provider.startswith("ollama")
    start_ollama = "Start it with `ollama serve`, or set `api.base`."
    yield is_unreachable and is_ollama, f"No Ollama answers at {asked.base}.", start_ollama
    address = f" at {asked.base}" if asked.base else ""
    sentence = f"{model} cannot be reached{address}{proxy_clause()}."
    yield is_unreachable, sentence, "Check the network and `api.base`."
    is_late = _is_class_named(error, "Timeout")
    yield is_late, f"{model} did not answer in time.", "Try again, or raise `api.timeout`."
    # litellm calls a broken connection a server error.
    is_broken = bool(BROKEN.search(message))
    is_failing = status is not None and status >= 500 and not is_broken
    yield is_failing, f"{provider} returned an error ({status}): {said}", "Try again later."
    is_lost = is_broken or _is_class_named(error, "Connect", "Protocol") or isinstance(error, OSError)
    yield is_lost, f"The connection to {model} was lost: {said}", "Check the network and try again."
    remedy = "Check the model's name and `api.base`, or name another model."
    yield True, f"{provider} rejected the request: {said}", remedy


def status_of(error: Exception) -> int | None:
    """The HTTP status of the provider's answer. litellm invents one if there was no answer; that one is ignored."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and not _is_class_named(error, "Connection", "Timeout") else None


def is_too_long(error: Exception) -> bool:
    """Does the prompt not fit the model, or what its user may ask for at once?"""
    status, message = status_of(error), str(error)
    return (
        _is_class_named(error, "ContextWindow")
        or (status in {400, 413, 422, 500} and bool(TOO_LONG.search(message)))
        or (status in {413, 429} and bool(TOO_LARGE.search(message)))
    )


def _is_out_of_quota(message: str) -> bool:
    return bool(OUT_OF_QUOTA.search(message)) and not LIMITED.search(message)


def _is_unreachable(error: Exception, message: str) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if type(cause).__name__ in {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"}:
            return True
        cause = cause.__cause__ or cause.__context__
    return bool(UNREACHABLE.search(message))


def _failed_import(error: Exception) -> bool:
    """Is it an import that failed? litellm calls that a broken connection, and repeats its message."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ImportError) and str(cause) and str(cause) in str(error):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _is_class_named(error: Exception, *words: str) -> bool:
    return any(word in type(error).__name__ for word in words)


def _shorten(message: str) -> str:
    """The provider's own message without litellm's prefixes, cut to a line and ending like a sentence."""
    message = re.split(r" (?:Original exception: |Traceback \()", message)[0]
    message = re.sub(r"^((litellm\.)?\w+(Error|Exception|Timeout)( - |: ))+", "", message)
    if stated := STATED.search(message):
        message = stated[1]
    message = message if len(message) <= LINE else message[: LINE - 1] + "…"
    return message if message.endswith((".", "!", "?", "…")) else message + "."
