"""`model = "editor"`: the editor's own language model, asked through the connection.

The client streams pieces by `greenloop/completing` and answers `greenloop/complete` in the end; who is cancelled
withdraws the request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from greenloop.core.errors import ContextTooLong, ModelProblem
from greenloop.core.nouns import Completion, Reply, Usage
from greenloop.core.redact import clean
from greenloop.core.refusals import TOO_LONG
from greenloop.core.tokens import estimate, estimate_messages
from greenloop.lsp.protocol import COMPLETE
from greenloop.settings import EDITOR, Settings

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Requests side by side: behind most editors' models is a provider.
SLOTS = 4
# Editors' models need not keep to a limit: an answer of so many times its tokens, and so many more, is cut.
TIMES, MORE = 4, 256
LONGEST = 300  # characters of a sentence or a name of the client's
REMEDY = "Choose another of the editor's models, or name another model with the setting `model`."


class EditorModel:
    """The model of one connection; the client says which one it is."""

    def __init__(self, server: Server, settings: Settings) -> None:
        self._server = server
        self._patience = settings.api.timeout

    @property
    def name(self) -> str:
        return EDITOR

    @property
    def slots(self) -> int:
        return SLOTS

    async def complete(self, request: Completion, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelProblem` with the client's own sentence, and where it is silent for too long."""
        began = monotonic()
        hearing = _Hearing(on_token, TIMES * request.max_tokens + MORE)
        number = self._server.listen(hearing.hear)
        asked = asyncio.create_task(self._server.protocol.ask(COMPLETE, _params(number, request)))
        try:
            said = await self._answered(asked, hearing)
        except JsonRpcException as error:
            raise _problem(error) from error
        finally:
            self._server.completing.pop(number, None)
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
        text, finish = said.get("text"), "length" if said.get("cut") else "stop"
        if not isinstance(text, str):
            raise ModelProblem("The editor's language model gave no text.", remedy=REMEDY)
        for stop in request.stop:
            text = text.partition(stop)[0]
        model = said.get("model")
        usage = Usage(
            prompt_tokens=_count(said.get("promptTokens")) or estimate_messages(request.messages),
            completion_tokens=_count(said.get("completionTokens")) or estimate(text),
            cost=None,
            model_seconds=monotonic() - began,
        )
        name = _sentence(model) if isinstance(model, str) else ""
        return Reply(text=text, usage=usage, model=name or EDITOR, finish=finish)

    def count_tokens(self, text: str) -> int:
        return estimate(text)

    async def close(self) -> None:
        """The connection stays."""

    async def _answered(self, asked: asyncio.Task[Any], hearing: _Hearing) -> Mapping[str, Any]:
        """The reply, or what has come of an answer that does not end."""
        while not asked.done():
            left = hearing.at + self._patience - monotonic()
            if left <= 0:
                raise ModelProblem(
                    f"The editor's language model gave no sign of life for {self._patience:g} seconds.",
                    remedy=f"Try again, or raise `api.timeout`. {REMEDY}",
                )
            await asyncio.wait({asked, hearing.enough}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if hearing.enough.done() and not asked.done():
                return {"text": "".join(hearing.pieces), "cut": True}
        said = asked.result()
        return said if isinstance(said, Mapping) else {}


class _Hearing:
    """The pieces of one answer: when the last one came, and whether they are more than anybody asked for."""

    def __init__(self, on_token: Callable[[str], None], most: int) -> None:
        self._on_token, self._left = on_token, most
        self.pieces: list[str] = []
        self.at = monotonic()
        self.enough: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def hear(self, piece: str) -> None:
        self.at = monotonic()
        if self.enough.done() or not piece:
            return
        self.pieces.append(piece)
        self._left -= estimate(piece)
        self._on_token(piece)
        if self._left < 0:
            self.enough.set_result(None)


def _params(number: int, request: Completion) -> dict[str, Any]:
    return {
        "id": number,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "maxTokens": request.max_tokens,
        "temperature": request.temperature,
    }


def _problem(error: JsonRpcException) -> ModelProblem:
    """The client's sentence; it knows of consent, quotas, and which models there are."""
    if error.code == lsp.LSPErrorCodes.RequestCancelled:
        return ModelProblem("The editor cancelled the request to its language model.", remedy=REMEDY)
    sentence = _sentence(error.message) or "The editor's language model could not be asked"
    sentence = sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}."
    if TOO_LONG.search(sentence):
        return ContextTooLong(sentence, remedy=f"Lower `prompt.tokens`. {REMEDY}")
    return ModelProblem(sentence, remedy=REMEDY)


def _sentence(text: str) -> str:
    line = " ".join(clean(text).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _count(value: Any) -> int:
    """0 where the client does not tell, or tells nonsense."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
