"""JSON-RPC that tolerates real clients.

Each request gets one reply, odd messages do no harm, and nothing accumulates. pygls answers only well-formed messages,
and takes any object inside a message that has a key `jsonrpc` for another message. This module must not know the
meaning of the messages.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

import attrs
import cattrs
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage, LanguageServerProtocol

from greenloop.core.text.json_codec import overlay

log = logging.getLogger(__name__)

# Maximum characters of the explanation in an error reply.
LONGEST = 1000
# Error codes are 32-bit integers.
CODES = 1 << 31


class OwnReply:
    """The reply to one of greenloop's own requests. Its content (an API key, for example) is never logged."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "OwnReply(…)"


class Protocol(LanguageServerProtocol):
    """pygls' protocol with its own parsing of bytes into messages replaced."""

    _closing: int | str | None = None
    # Called with each notification whose parameters could not be read.
    on_unreadable: Callable[[str, Any], None] = staticmethod(lambda _method, _params: None)

    def receive(self, body: bytes) -> None:
        """Handles one message. An empty body stands for a message that could not be read from the stream."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            self._refuse(
                None,
                lsp.ErrorCodes.ParseError,
                "The message is not valid JSON, or it is too long or too deeply nested.",
            )
            return
        if not isinstance(data, dict):
            self._refuse(None, lsp.ErrorCodes.InvalidRequest, "A message is one object; there are no batches.")
        elif "method" in data:
            self._handle_call(data)
        else:
            self._handle_reply(data)

    # -- requests and notifications ---------------------------------------------------------------------------------

    def _handle_call(self, data: dict[str, Any]) -> None:
        request_id = _as_integer(data.get("id"))
        if "id" in data and not _is_id(request_id):
            self._refuse(None, lsp.ErrorCodes.InvalidRequest, "The id of a request is a whole number or a text.")
            return
        fault = self._fault(data, request_id)
        if fault is None:
            try:
                message = self._message(data)
            except Exception as error:  # noqa: BLE001 - any error of a converter is the fault of the message
                reason = "; ".join(cattrs.transform_error(error))[:LONGEST]
                fault = lsp.ErrorCodes.InvalidParams, f"The parameters could not be read: {reason}"
                if request_id is None:
                    self.on_unreadable(data["method"], data.get("params"))
        if fault is not None:
            log.info("A message for '%.100s' was refused: %s", data["method"], fault[0].name)
            if request_id is not None:
                self._refuse(request_id, *fault)
            return
        if request_id is not None:
            message.id = request_id
            if data["method"] == lsp.SHUTDOWN:
                self._closing = request_id
        self.handle_message(message)

    def _fault(self, data: Mapping[str, Any], number: int | str | None) -> tuple[Any, str] | None:
        """The error code and reason where a message cannot be handled now, whatever its parameters; else None."""
        method = data["method"]
        if data.get("jsonrpc") != self.VERSION or not isinstance(method, str):
            return lsp.ErrorCodes.InvalidRequest, "A message has a 'jsonrpc' of \"2.0\" and a text for 'method'."
        if (self._shutdown or self._closing is not None) and method != lsp.EXIT:
            return lsp.ErrorCodes.InvalidRequest, "The server is shutting down."
        if self._workspace is None and method not in (lsp.INITIALIZE, lsp.EXIT):
            return lsp.ErrorCodes.ServerNotInitialized, "The first request is 'initialize'."
        if self._workspace is not None and method == lsp.INITIALIZE:
            return lsp.ErrorCodes.InvalidRequest, "The server is already initialized."
        if number is not None and number in self._request_futures:
            return lsp.ErrorCodes.InvalidRequest, "An earlier request with this id has not been answered yet."
        is_known = method in self.fm.builtin_features or method in self.fm.features or method == lsp.CANCEL_REQUEST
        if not is_known:
            return lsp.ErrorCodes.MethodNotFound, f"There is no method '{method[:100]}'."
        kind = self.get_message_type(method)
        if kind is not None and (number is not None) is not _has_id(kind):
            return lsp.ErrorCodes.InvalidRequest, f"'{method}' is {'a request' if _has_id(kind) else 'a notification'}."
        return None

    def _message(self, data: dict[str, Any]) -> Any:
        """The message as its type; may raise any error where its parameters have other types."""
        kind = self.get_message_type(data["method"])
        if kind is None:
            params = data.get("params")
            if "id" in data:
                return JsonRPCRequestMessage(data["id"], data["method"], self.VERSION, params)
            return JsonRPCNotification(data["method"], self.VERSION, params)
        if "id" in data:
            data = data | {"id": 0}
        return structure(self._converter, data, kind)

    def handle_message(self, message: Any) -> None:
        # Before: a late reply to a request that is no longer awaited would raise.
        self._forget_done()
        try:
            super().handle_message(message)
        finally:
            # After: pygls keeps one entry for each notification and asynchronous command forever.
            self._forget_done()

    def _forget_done(self) -> None:
        for key in [key for key, future in self._request_futures.items() if future.done()]:
            del self._request_futures[key]
        for key in [key for key in self._result_types if key not in self._request_futures]:
            del self._result_types[key]

    def _handle_cancel_notification(self, msg_id: int | str) -> None:
        request_id = _as_integer(msg_id)
        # A client must not cancel the server's own requests or the shutdown.
        if _is_id(request_id) and request_id not in self._result_types and request_id != self._closing:
            super()._handle_cancel_notification(request_id)

    # -- replies ----------------------------------------------------------------------------------------------------

    def _handle_reply(self, data: dict[str, Any]) -> None:
        request_id = data.get("id")
        self._forget_done()
        # Only replies to the server's requests: a client's own id must not complete the request it names.
        if not _is_id(request_id) or request_id not in self._result_types:
            log.debug("A reply to nothing that is waited for")
            return
        self.handle_message(self._reply(data))

    def _reply(self, data: dict[str, Any]) -> Any:
        # Some clients answer null where the protocol requires an object, or send both a result and an error.
        if error := data.get("error"):
            code = error.get("code") if isinstance(error, Mapping) else None
            message = str(error.get("message", "")) if isinstance(error, Mapping) else str(error)
            code = code if isinstance(code, int) and -CODES <= code < CODES else lsp.ErrorCodes.InternalError
            self._result_types.pop(data["id"], None)
            return lsp.ResponseErrorMessage(id=data["id"], error=lsp.ResponseError(code=code, message=message))
        if self._result_types.get(data["id"]) is None:
            self._result_types.pop(data["id"])
            return JsonRPCResponseMessage(id=data["id"], jsonrpc=self.VERSION, result=OwnReply(data.get("result")))
        clean = {"id": data["id"], "jsonrpc": self.VERSION, "result": data.get("result")}
        try:
            return self.structure_message(clean)
        except JsonRpcException:
            return JsonRPCResponseMessage(id=data["id"], jsonrpc=self.VERSION, result=None)

    async def request(self, method: str, params: Any) -> Any:
        """The reply to one of greenloop's own requests. Cancelling the caller also cancels the request at the client.

        Raises `JsonRpcException` where the client refuses.
        """
        request_id = str(uuid.uuid4())
        try:
            answer = await self.send_request_async(method, params, msg_id=request_id)
        except asyncio.CancelledError:
            # pygls forgets the request without telling the client.
            self.notify(lsp.CANCEL_REQUEST, lsp.CancelParams(id=request_id))
            raise
        return answer.value

    def _refuse(self, request_id: int | str | None, code: Any, message: str) -> None:
        error = {"code": int(code), "message": message}
        # Not pygls' own type, which omits an id of null.
        self._send_data({"jsonrpc": self.VERSION, "id": request_id, "error": error})


def _as_integer(number: Any) -> Any:
    """Turns 1.0 into 1: some languages have only one number type and write integers so."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _is_id(number: Any) -> TypeGuard[int | str]:
    return isinstance(number, int | str) and not isinstance(number, bool)


def _has_id(kind: type[Any]) -> bool:
    return any(field.name == "id" for field in attrs.fields(kind))


# -- requests with unreadable parts -----------------------------------------------------------------------------------


# Capabilities (unknown ones are irrelevant here), and diagnostics of any server.
_NEEDED: dict[str, dict[str, Any]] = {
    lsp.INITIALIZE: {"processId": None, "rootUri": None, "capabilities": {}},
    lsp.TEXT_DOCUMENT_CODE_ACTION: {
        "textDocument": {"uri": ""},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
        "context": {"diagnostics": []},
    },
}
_UNREADABLE = object()


def structure(converter: cattrs.Converter, data: dict[str, Any], kind: type[Any]) -> Any:
    """`data` as `kind`, without the parts that cannot be read. Raises the converter's error where those are needed."""
    if data["method"] == lsp.TEXT_DOCUMENT_DID_CHANGE:
        data = _without_nulls(data)
    try:
        return converter.structure(data, kind)
    except Exception:
        minimal = _NEEDED.get(data["method"])
        if minimal is None or not isinstance(data.get("params"), dict):
            raise

    def is_readable(part: Any) -> bool:
        try:
            converter.structure(data | {"params": overlay(minimal, part)}, kind)
        except Exception:  # noqa: BLE001 - a converter may raise anything on wrong data
            return False
        return True

    return converter.structure(data | {"params": _readable(data["params"], is_readable)}, kind)


def _without_nulls(value: Any) -> Any:
    """Removes nulls: some languages write missing values so, such as the range of a whole text."""
    if isinstance(value, dict):
        return {key: _without_nulls(part) for key, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value


def _readable(value: Any, reads: Callable[[Any], bool]) -> Any:
    """The value without its unreadable parts, or `_UNREADABLE`."""
    if reads(value):
        return value
    if isinstance(value, dict):
        parts = {key: _readable(part, _inside(reads, key)) for key, part in value.items()}
        value = {key: part for key, part in parts.items() if part is not _UNREADABLE}
    elif isinstance(value, list):
        value = [part for item in value if (part := _readable(item, lambda it: reads([it]))) is not _UNREADABLE]
    return value if reads(value) else _UNREADABLE


def _inside(reads: Callable[[Any], bool], key: str) -> Callable[[Any], bool]:
    return lambda part: reads({key: part})
