"""greenloop's own messages, and the wire protocol hardened against what real editors send.

docs/protocol.md describes them; this module is its code. It must not know what a run is.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import attrs
import cattrs
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.protocol import JsonRPCResponseMessage, LanguageServerProtocol

REFINE = "greenloop/refine"
QUESTION = "greenloop/question"
QUESTION_OVER = "greenloop/questionOver"
STEPS = ("next", "previous")

log = logging.getLogger(__name__)


@attrs.define
class RefineParams:
    """What to refine: the document and either a position in it or a pytest node id."""

    uri: str
    position: lsp.Position | None = None
    test: str | None = None
    preset: str | None = None
    work_done_token: int | str | None = None


@attrs.define
class RefineMessage:
    """`params` is anything: a badly typed message must get a reply, which pygls gives only to well-typed ones."""

    id: int | str
    method: str
    jsonrpc: str = "2.0"
    params: Any = None


@attrs.define
class _Unreadable:
    """A message that could not be understood and, where it was a request, has been answered already."""

    jsonrpc: str = "2.0"


@attrs.define
class AnswerParams:
    """An answer to the open question of a run: one of its options, or a value typed instead."""

    uri: str
    target: str
    question: str
    answer: str | None = None
    value: str | None = None


@attrs.define
class AttemptParams:
    """One attempt of a run: its number, or the one before or after the one that is shown."""

    uri: str
    attempt: int | str
    target: str | None = None


def attempt_params(raw: Any) -> AttemptParams:
    """Raises `JsonRpcInvalidParams` that says what is wrong."""
    params: AttemptParams = _structured(raw, AttemptParams, '{"uri", "target", "attempt"}')
    number = isinstance(params.attempt, int) and not isinstance(params.attempt, bool) and params.attempt >= 0
    if not number and params.attempt not in STEPS:
        raise JsonRpcInvalidParams("'attempt' must be a number from 0 (your code), 'next' or 'previous'.")
    return params


def answer_params(raw: Any) -> AnswerParams:
    """Raises `JsonRpcInvalidParams` that says what is wrong."""
    params: AnswerParams = _structured(raw, AnswerParams, '{"uri", "target", "question", "answer" or "value"}')
    if (params.answer is None) == (params.value is None):
        raise JsonRpcInvalidParams("Exactly one of 'answer' and 'value' is needed.")
    return params


def refine_params(raw: Any) -> RefineParams:
    """Raises `JsonRpcInvalidParams` that says what is wrong."""
    params: RefineParams = _structured(raw, RefineParams, '{"uri", "position"} or {"uri", "test"}')
    if (params.position is None) == (params.test is None):
        raise JsonRpcInvalidParams("Exactly one of 'position' and 'test' is needed.")
    return params


def _structured(raw: Any, kind: type[Any], form: str) -> Any:
    if not isinstance(raw, Mapping):
        raise JsonRpcInvalidParams(f"Expected one object: {form}.")
    names = {"workDoneToken": "work_done_token"}
    try:
        return _converter().structure({names.get(key, key): value for key, value in raw.items()}, kind)
    except Exception as error:
        raise JsonRpcInvalidParams("; ".join(cattrs.transform_error(error))) from error


@lru_cache(1)
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter()

    def text(value: Any, _kind: Any) -> str:
        if not isinstance(value, str):
            raise TypeError(f"must be a text, not {type(value).__name__}")
        return value

    def whole(value: Any, _kind: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise TypeError(f"must be a whole number, not {value!r}")
        return value

    converter.register_structure_hook(str, text)
    converter.register_structure_hook(int, whole)
    converter.register_structure_hook(int | str | None, lambda value, _kind: value)
    converter.register_structure_hook(int | str, lambda value, _kind: value)
    return converter


class Protocol(LanguageServerProtocol):
    """pygls' protocol, except that nothing leaks, every request gets a reply and odd replies do no harm."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        if "jsonrpc" not in data:
            return data
        if "method" not in data:
            return self._structure_reply(data)
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data:
                log.warning("Request '%s' could not be read", data["method"])
                self._send_response(data["id"], error=error.to_response_error())
            else:
                log.warning("Notification '%s' could not be read", data["method"])
            return _Unreadable()

    def _structure_reply(self, data: dict[str, Any]) -> Any:
        # Some clients answer null where the protocol demands an object, or send both a result and an error.
        if data.get("error"):
            error = data["error"]
            code = error.get("code") if isinstance(error, Mapping) else None
            message = str(error.get("message", "")) if isinstance(error, Mapping) else str(error)
            code = code if isinstance(code, int) else lsp.ErrorCodes.InternalError
            self._result_types.pop(data.get("id", ""), None)
            return lsp.ResponseErrorMessage(id=data.get("id"), error=lsp.ResponseError(code=code, message=message))
        clean = {"id": data.get("id"), "jsonrpc": data["jsonrpc"], "result": data.get("result")}
        try:
            return super().structure_message(clean)
        except JsonRpcException:
            return JsonRPCResponseMessage(id=data.get("id", ""), jsonrpc=data["jsonrpc"], result=None)

    def handle_message(self, message: Any) -> None:
        if isinstance(message, _Unreadable):
            return
        if self._shutdown and getattr(message, "method", lsp.EXIT) != lsp.EXIT and hasattr(message, "id"):
            error = lsp.ResponseError(code=lsp.ErrorCodes.InvalidRequest, message="The server is shutting down.")
            self._send_response(message.id, error=error)
            return
        # Before: a late reply to a request that nobody awaits any more would raise in the message loop.
        self._forget_done()
        try:
            super().handle_message(message)
        finally:
            # After: pygls keeps one entry for each notification and asynchronous command, for ever.
            self._forget_done()

    def _forget_done(self) -> None:
        for key in [key for key, future in self._request_futures.items() if future.done()]:
            del self._request_futures[key]
        for key in [key for key in self._result_types if key not in self._request_futures]:
            del self._result_types[key]

    @lru_cache  # noqa: B019 - one protocol lives as long as the process
    def get_message_type(self, method: str) -> type[Any] | None:
        return RefineMessage if method == REFINE else super().get_message_type(method)
