"""Asks the hub, or the mirror that `HF_ENDPOINT` names, for files of weights.

Proxies are those of the environment, as httpx takes them.
This module must not know where else weights come from.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import httpx

from greenloop.core.errors import ModelError
from greenloop.plugins.embedded.catalogue import EmbeddedModel, size_of

UNREACHABLE = "the hub could not be reached"
STEP = 4 * 1024 * 1024
# Users behind a package mirror wait for the timeout of the connection before their download begins.
TIMEOUT = httpx.Timeout(20, connect=4)


async def download(
    model: EmbeddedModel,
    partial: Path,
    report: Callable[[int], None],
    learn: Callable[[EmbeddedModel], Awaitable[None]],
) -> str:
    """Adds the missing bytes to `partial`. Returns the reason if that was not possible, else an empty string.

    A model without a hash is learnt from the hub's answer, which has to state the file's size and hash; else
    `ModelError` is raised.
    """
    if not model.hub:
        return "no hub has it"
    have = min(size_of(partial), model.size)
    if model.size and have == model.size:
        return ""
    headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"}
    try:
        async with (
            httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=True) as client,
            client.stream(
                "GET", f"{endpoint()}/{model.hub}/resolve/{model.revision}/{model.file}", headers=headers
            ) as response,
        ):
            if not model.sha256:
                model = _stated_model(model, response)
                await learn(model)
            if reason := _refusal(model, response):
                return reason
            # A server that does not know ranges sends the file from its beginning.
            is_rest = have and response.status_code == httpx.codes.PARTIAL_CONTENT
            with partial.open("ab" if is_rest else "wb") as file:
                reported = file.tell()
                async for chunk in response.aiter_bytes():
                    file.write(chunk)
                    if file.tell() - reported >= STEP:
                        reported = file.tell()
                        report(reported)
                is_whole = file.tell() >= model.size
    except httpx.HTTPError as error:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
            return UNREACHABLE
        return f"{UNREACHABLE} ({type(error).__name__})"
    return "" if is_whole else "the hub's answer broke off"


def endpoint() -> str:
    """The hub's address."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def _refusal(model: EmbeddedModel, response: httpx.Response) -> str:
    """Returns why the answer is not the model's file, as far as its headers tell; empty if it is."""
    if response.status_code == httpx.codes.PARTIAL_CONTENT:
        size = response.headers.get("Content-Range", "").rpartition("/")[2]
        if size != str(model.size):
            return "the file on the hub has a different size"
    elif response.status_code != httpx.codes.OK or response.headers.get("Content-Length") != str(model.size):
        # A network with a sign-in page answers everything with it.
        return f"the hub answered {response.status_code}"
    if _read_statement(response)[1] not in ("", model.sha256):
        return "the file on the hub has a different hash"
    return ""


def _stated_model(model: EmbeddedModel, response: httpx.Response) -> EmbeddedModel:
    size, sha256 = _read_statement(response)
    if not size:
        raise ModelError(
            f"{model.name} cannot be downloaded: the hub states no size and hash of {model.file} "
            f"(it answered {response.status_code}).",
            remedy="Take a copy of the file with --from.",
        )
    return replace(model, size=size, sha256=sha256)


def _read_statement(response: httpx.Response) -> tuple[int, str]:
    """The size and the SHA-256 that the hub states of a large file, before it redirects to where the file is."""
    for each in (*response.history, response):
        sha256 = each.headers.get("X-Linked-Etag", "").strip('"').lower()
        size = each.headers.get("X-Linked-Size", "")
        if re.fullmatch("[0-9a-f]{64}", sha256) and size.isdecimal():
            return int(size), sha256
    return 0, ""
