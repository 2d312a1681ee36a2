"""What it means when a model's provider, or the way to it, fails: one sentence, one remedy, and whether to try again.

Reads an exception by its status, its class's name and its words, so that it need not know whose it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from greenloop.core.errors import ContextTooLong, ModelProblem
from greenloop.core.redact import MASK, redact

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


def transient(error: Exception) -> bool:
    """Whether the same request may well succeed a little later."""
    if OUT_OF_QUOTA.search(str(error)) or NO_KEY.search(str(error)) or _too_long(error):
        return False
    return isinstance(error, OSError) or _named(error, "Timeout", "Connect", "Protocol") or _status(error) in TRANSIENT


def retry_after(error: Exception) -> float | None:
    """Seconds that the provider asked to wait, if it did (a date is not understood)."""
    headers = getattr(error, "litellm_response_headers", None)
    headers = headers or getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None


def problem(
    error: Exception, *, name: str, key: str, base: str, secrets: Iterable[str], kept: bool = False
) -> ModelProblem:
    """The sentence for the user.

    `name` is the model, `key` the name of the variable its key is taken from and `base` its address, where the user set
    them. `secrets` are values that must not be shown; `kept`: the key came from the editor.
    """
    text = KEY_LIKE.sub(MASK, redact(" ".join(str(error).split()), secrets))
    provider = name.partition("/")[0]
    return (
        _about_request(error, text, name, provider)
        or _about_account(error, text, name, provider, key, kept=kept)
        or _about_way(error, text, name, provider, base)
        or ModelProblem(
            f"{provider} refused the request: {_short(text)}",
            remedy="Check the model's name and `api.base`, or name another model.",
        )
    )


def _about_request(error: Exception, text: str, name: str, provider: str) -> ModelProblem | None:
    if _too_long(error):
        return ContextTooLong(
            f"The prompt is too long for the context of {name}.",
            remedy="Lower `prompt.tokens`, or name a model with a larger context.",
        )
    if "LLM Provider NOT provided" in text or _named(error, "UnknownProvider"):
        return ModelProblem(
            f"No provider is known for the model '{name}'.",
            remedy="Write it as provider/model, such as ollama/llama3.2 or openai/gpt-4o, or `local`.",
        )
    if _status(error) == 404:
        cure = f"Run `ollama pull {name.partition('/')[2]}`" if provider.startswith("ollama") else "Check its spelling"
        return ModelProblem(f"{provider} does not know the model {name}.", remedy=f"{cure}, or name another model.")
    return None


def _about_account(
    error: Exception, text: str, name: str, provider: str, key: str, *, kept: bool
) -> ModelProblem | None:
    status = _status(error)
    missing = NO_KEY.search(text)
    if status in {401, 403} or missing:
        where = key or f"{provider.upper()}_API_KEY"
        cure = f"Put a valid key into the environment variable {where}, or name another variable in `api.key`."
        if kept:
            cure = f"Give the editor another key for {provider}."
        return ModelProblem(
            f"There is no key for {name}." if missing else f"{provider} refused the key for {name}.",
            remedy=cure,
        )
    if status == 402 or OUT_OF_QUOTA.search(text):
        return ModelProblem(f"The quota for {name} is used up.", remedy="Check the account, or name another model.")
    if status == 429:
        asked = retry_after(error)
        when = f"in {asked:.0f} seconds" if asked else "later"
        return ModelProblem(
            f"{provider} limits the rate of requests to {name}.", remedy=f"Try again {when}, or name another model."
        )
    return None


def _about_way(error: Exception, text: str, name: str, provider: str, base: str) -> ModelProblem | None:
    status = _status(error)
    if _unreachable(error, text):
        if provider.startswith("ollama"):
            return ModelProblem(
                f"No Ollama answers at {base}.", remedy="Start it with `ollama serve`, or set `api.base`."
            )
        where = f" at {base}" if base else ""
        return ModelProblem(f"{name} cannot be reached{where}.", remedy="Check the network and `api.base`.")
    if _named(error, "Timeout"):
        return ModelProblem(f"{name} did not answer in time.", remedy="Try again, or raise `api.timeout`.")
    # litellm calls a broken connection a server error.
    if status is not None and status >= 500 and not BROKEN.search(text):
        return ModelProblem(f"{provider} has trouble answering ({status}): {_short(text)}", remedy="Try again later.")
    if BROKEN.search(text) or _named(error, "Connect", "Protocol") or isinstance(error, OSError):
        return ModelProblem(
            f"The connection to {name} broke: {_short(text)}", remedy="Check the network and try again."
        )
    return None


def _status(error: Exception) -> int | None:
    """The HTTP status the provider answered with. litellm invents one where there was no answer."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and not _named(error, "Connection", "Timeout") else None


def _too_long(error: Exception) -> bool:
    return _named(error, "ContextWindow") or (
        _status(error) in {400, 413, 422, 500} and bool(TOO_LONG.search(str(error)))
    )


def _unreachable(error: Exception, text: str) -> bool:
    chain: BaseException | None = error
    while chain is not None:
        if type(chain).__name__ in {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"}:
            return True
        chain = chain.__cause__ or chain.__context__
    return bool(UNREACHABLE.search(text))


def _named(error: Exception, *words: str) -> bool:
    return any(word in type(error).__name__ for word in words)


def _short(text: str) -> str:
    """A provider's own words without litellm's prefixes, cut to a line, ended like a sentence."""
    text = re.split(r" (?:Original exception: |Traceback \()", text)[0]
    text = re.sub(r"^((litellm\.)?\w+(Error|Exception|Timeout)( - |: ))+", "", text)
    text = text if len(text) <= LINE else text[: LINE - 1] + "…"
    return text if text.endswith((".", "!", "?", "…")) else text + "."
