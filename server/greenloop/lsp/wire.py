"""JSON-RPC as real clients speak it: every request gets one reply, odd messages do no harm, nothing piles up.

pygls answers well-formed messages only, and takes any object inside of one that has a key `jsonrpc` for a message of
its own. This module must not know what the messages are about.
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

from greenloop.lsp import lenient

log = logging.getLogger(__name__)

# Characters of a reply that say what is wrong with a request.
LONGEST = 1000
# Codes of errors are whole numbers of 32 bits.
CODES = 1 << 31


class Answer:
    """The reply to a message of greenloop's own. What is in it (a key, say) stands in no log, at whatever level."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "Answer(…)"


class Protocol(LanguageServerProtocol):
    """pygls' protocol from the bytes on; its own way from bytes to messages is not used."""

    _closing: int | str | None = None
    # Told of a notification whose parameters could not be read.
    unread: Callable[[str, Any], None] = staticmethod(lambda _method, _params: None)

    def receive(self, body: bytes) -> None:
        """Handles one message. An empty body stands for one that could not be taken from the wire."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            self._refuse(None, lsp.ErrorCodes.ParseError, "That is no JSON, or too long or too deep.")
            return
        if not isinstance(data, dict):
            self._refuse(None, lsp.ErrorCodes.InvalidRequest, "A message is one object; there are no batches.")
        elif "method" in data:
            self._called(data)
        else:
            self._answered(data)

    # -- requests and notifications ---------------------------------------------------------------------------------

    def _called(self, data: dict[str, Any]) -> None:
        number = _whole(data.get("id"))
        if "id" in data and not _is_id(number):
            self._refuse(None, lsp.ErrorCodes.InvalidRequest, "The id of a request is a whole number or a text.")
            return
        fault = self._fault(data, number)
        if fault is None:
            try:
                message = self._message(data)
            except Exception as error:  # noqa: BLE001 - whatever a converter stumbles over is the fault of the message
                why = "; ".join(cattrs.transform_error(error))[:LONGEST]
                fault = lsp.ErrorCodes.InvalidParams, f"The parameters could not be read: {why}"
                if number is None:
                    self.unread(data["method"], data.get("params"))
        if fault is not None:
            log.info("A message for '%.100s' was refused: %s", data["method"], fault[0].name)
            if number is not None:
                self._refuse(number, *fault)
            return
        if number is not None:
            message.id = number
            if data["method"] == lsp.SHUTDOWN:
                self._closing = number
        self.handle_message(message)

    def _fault(self, data: Mapping[str, Any], number: int | str | None) -> tuple[Any, str] | None:
        """Why a message cannot be handled now, whatever its parameters are."""
        method = data["method"]
        if data.get("jsonrpc") != self.VERSION or not isinstance(method, str):
            return lsp.ErrorCodes.InvalidRequest, "A message has a 'jsonrpc' of \"2.0\" and a text for 'method'."
        if (self._shutdown or self._closing is not None) and method != lsp.EXIT:
            return lsp.ErrorCodes.InvalidRequest, "The server is shutting down."
        if self._workspace is None and method not in (lsp.INITIALIZE, lsp.EXIT):
            return lsp.ErrorCodes.ServerNotInitialized, "The first request is 'initialize'."
        if self._workspace is not None and method == lsp.INITIALIZE:
            return lsp.ErrorCodes.InvalidRequest, "The server is initialized already."
        if number is not None and number in self._request_futures:
            return lsp.ErrorCodes.InvalidRequest, "The request before with this id is not answered yet."
        known = method in self.fm.builtin_features or method in self.fm.features or method == lsp.CANCEL_REQUEST
        if not known:
            return lsp.ErrorCodes.MethodNotFound, f"There is no method '{method[:100]}'."
        kind = self.get_message_type(method)
        if kind is not None and (number is not None) is not _has_id(kind):
            return lsp.ErrorCodes.InvalidRequest, f"'{method}' is {'a request' if _has_id(kind) else 'a notification'}."
        return None

    def _message(self, data: dict[str, Any]) -> Any:
        """The message as its type; raises anything where its parameters are of other types."""
        kind = self.get_message_type(data["method"])
        if kind is None:
            params = data.get("params")
            if "id" in data:
                return JsonRPCRequestMessage(data["id"], data["method"], self.VERSION, params)
            return JsonRPCNotification(data["method"], self.VERSION, params)
        if "id" in data:
            data = data | {"id": 0}
        return lenient.structure(self._converter, data, kind)

    def handle_message(self, message: Any) -> None:
        # Before: a late reply to a request that nobody awaits any more would raise.
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

    def _handle_cancel_notification(self, msg_id: int | str) -> None:
        number = _whole(msg_id)
        # Neither the server's own requests nor its end are for the client to cancel.
        if _is_id(number) and number not in self._result_types and number != self._closing:
            super()._handle_cancel_notification(number)

    # -- replies ----------------------------------------------------------------------------------------------------

    def _answered(self, data: dict[str, Any]) -> None:
        number = data.get("id")
        self._forget_done()
        # Only what the server asked: an id of the client's own must not end what it names.
        if not _is_id(number) or number not in self._result_types:
            log.debug("A reply to nothing that is waited for")
            return
        self.handle_message(self._reply(data))

    def _reply(self, data: dict[str, Any]) -> Any:
        # Some clients answer null where the protocol demands an object, or send both a result and an error.
        if error := data.get("error"):
            code = error.get("code") if isinstance(error, Mapping) else None
            said = str(error.get("message", "")) if isinstance(error, Mapping) else str(error)
            code = code if isinstance(code, int) and -CODES <= code < CODES else lsp.ErrorCodes.InternalError
            self._result_types.pop(data["id"], None)
            return lsp.ResponseErrorMessage(id=data["id"], error=lsp.ResponseError(code=code, message=said))
        if self._result_types.get(data["id"]) is None:
            self._result_types.pop(data["id"])
            return JsonRPCResponseMessage(id=data["id"], jsonrpc=self.VERSION, result=Answer(data.get("result")))
        clean = {"id": data["id"], "jsonrpc": self.VERSION, "result": data.get("result")}
        try:
            return self.structure_message(clean)
        except JsonRpcException:
            return JsonRPCResponseMessage(id=data["id"], jsonrpc=self.VERSION, result=None)

    async def ask(self, method: str, params: Any) -> Any:
        """The reply to a request of greenloop's own; who is cancelled while he waits for it withdraws it.

        Raises `JsonRpcException` where the client refuses.
        """
        number = str(uuid.uuid4())
        try:
            answer = await self.send_request_async(method, params, msg_id=number)
        except asyncio.CancelledError:
            # pygls forgets it, and says nothing to the client.
            self.notify(lsp.CANCEL_REQUEST, lsp.CancelParams(id=number))
            raise
        return answer.value

    def _refuse(self, number: int | str | None, code: Any, why: str) -> None:
        error = {"code": int(code), "message": why}
        # Not pygls' own type, which leaves an id of null out.
        self._send_data({"jsonrpc": self.VERSION, "id": number, "error": error})


def _whole(number: Any) -> Any:
    """Some languages have one type of numbers and write 1 as 1.0."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _is_id(number: Any) -> TypeGuard[int | str]:
    return isinstance(number, int | str) and not isinstance(number, bool)


def _has_id(kind: type[Any]) -> bool:
    return any(field.name == "id" for field in attrs.fields(kind))
