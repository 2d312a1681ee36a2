"""Corrects faults of litellm for single providers, in the library that is loaded.

It must not import litellm. Its release is pinned, so a correction holds until another one is taken on purpose.
"""

from __future__ import annotations

from typing import Any

from greenloop.models import known_models


def correct(litellm: Any, name: str) -> None:
    """Corrects what concerns a model by its full name; once is enough, more often does no harm."""
    provider = name.partition("/")[0]
    if provider == "openai":
        _replace(litellm.OpenAIResponsesAPIConfig, "should_fake_stream", _fakes_stream)
    if provider in {"gemini", "vertex_ai"}:
        read = litellm.VertexGeminiConfig._check_finish_reason  # noqa: SLF001 - the only place to correct it
        # It says that an answer is over with each of its pieces, so that one that ends early would look whole.
        only_stated = staticmethod(lambda message, stated: read(message, stated) if stated else None)
        _replace(litellm.VertexGeminiConfig, "_check_finish_reason", only_stated)


def _fakes_stream(_config: Any, model: str | None, stream: bool | None, *_provider: Any, **_named: Any) -> bool:
    """Does a model's answer only come as a whole? litellm believes it of every model that is newer than its table."""
    return stream is True and known_models.entry(model or "").get("supports_native_streaming") is False


def _replace(owner: Any, name: str, replacement: Any) -> None:
    corrected = f"corrected_{name}"
    if not hasattr(owner, corrected):
        setattr(owner, name, replacement)
        setattr(owner, corrected, True)
