"""`greenloop/verify` and `greenloop/explain`: short answers for an agent of the editor. They see the files on disk.

They must not know which agent asks.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from greenloop.api.settings import Settings
from greenloop.core.errors import GreenloopError
from greenloop.lsp.connection.messages import parse_params
from greenloop.lsp.documents import locations
from greenloop.lsp.parts import Parts

VERIFY = "greenloop/verify"
EXPLAIN = "greenloop/explain"
NO_FOLDER = "No folder is open. Open the folder of the project."
NO_TARGET = "There is no test or function here."
FAILED = "greenloop failed unexpectedly; its log has the error."

Answer = Callable[[Path, Settings], Awaitable[dict[str, Any]]]


@attrs.define
class VerifyParams:
    """A document of the project, and the node ids, files or folders to verify (none: all tests)."""

    uri: str
    targets: list[str] = attrs.Factory(list)


@attrs.define
class ExplainParams:
    """A document of the project, and either a target, a node id or `file.py::function`, or a position in it."""

    uri: str
    target: str | None = None
    position: lsp.Position | None = None


def register(server: LanguageServer, parts: Parts) -> None:
    editor = parts.editor

    @server.feature(VERIFY)
    async def verify(raw: Any) -> dict[str, Any]:
        params = verify_params(raw)

        async def answer(root: Path, settings: Settings) -> dict[str, Any]:
            api, texts = await load("greenloop.api.verification"), await load("greenloop.plugins.agents.short_texts")
            request = api.VerifyRequest(root=root, targets=tuple(params.targets))
            result = await api.verify(request, settings=settings)
            count = sum(case.passed for case in result.cases)
            passed = f"verified: {count} {'test passes' if count == 1 else 'tests pass'}, and nothing was faked."
            return {"verified": result.is_proven, "text": texts.describe_verification(result) or passed}

        return {"verified": False, **await ask(params.uri, answer)}

    @server.feature(EXPLAIN)
    async def explain(raw: Any) -> dict[str, Any]:
        params = explain_params(raw)
        target = params.target or target_at(params.uri, params.position)
        if target is None:
            return {"text": NO_TARGET}

        async def answer(root: Path, settings: Settings) -> dict[str, Any]:
            api, texts = await load("greenloop.api.testing"), await load("greenloop.plugins.agents.short_texts")
            found = await api.explain(root, target, settings=settings, pool=parts.engines.pool)
            uri_of = parts.documents.uri_of
            lines = [{"uri": uri_of(root / x.path), "line": x.line - 1, "suspicion": x.suspicion} for x in found.lines]
            text = texts.shorten("\n".join(texts.describe_explanation(found)))
            return {"text": text, "passes": found.baseline.passing, "lines": lines}

        return await ask(params.uri, answer)

    def target_at(uri: str, position: lsp.Position | None) -> str | None:
        file = locations.locate_for_display(editor.documents, uri)
        target = locations.target_at(file, file.line(position.line)) if file and position else None
        return target.selector if target else None

    async def ask(uri: str, answer: Answer) -> dict[str, Any]:
        """The answer, or why there is none; its work ends when the request is cancelled, and with the server."""
        reply: dict[str, Any] = {"text": FAILED}

        async def work() -> None:
            await editor.settings.wait_shortly()
            root = locations.root_named(editor.documents, {"uri": uri})
            try:
                reply.update(await answer(root, editor.settings.load(root)) if root else {"text": NO_FOLDER})
            except GreenloopError as error:
                reply["text"] = error.advice

        await editor.tasks.spawn(work())
        return reply


async def load(module: str) -> Any:
    """Imports a module of the façade and the engine below it, off the event loop."""
    return await asyncio.to_thread(importlib.import_module, module)


def verify_params(raw: Any) -> VerifyParams:
    """Raises `JsonRpcInvalidParams` with a message for the client's author."""
    params: VerifyParams = parse_params(raw, VerifyParams, '{"uri", "targets"}')
    return params


def explain_params(raw: Any) -> ExplainParams:
    """Raises `JsonRpcInvalidParams` with a message for the client's author."""
    params: ExplainParams = parse_params(raw, ExplainParams, '{"uri", "target"} or {"uri", "position"}')
    if (params.position is None) == (params.target is None):
        raise JsonRpcInvalidParams("Exactly one of 'position' and 'target' is needed.")
    return params
