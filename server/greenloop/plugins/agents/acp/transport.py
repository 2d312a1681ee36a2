"""JSON-RPC messages, one in each line, of clients that may send anything.

The SDK's own transport answers no line that is not JSON, and ends with one that is not an object.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import threading
from typing import Any, BinaryIO

from acp import RequestError

from greenloop.serving.stdio import Outbox

LONGEST = 64 << 20  # bytes of one message
WAITING = 64  # messages that are read ahead

log = logging.getLogger(__name__)


class LineTransport:
    """Reads in a thread of its own, and writes without waiting for the client."""

    def __init__(self, source: BinaryIO, outbox: Outbox) -> None:
        self._source, self._outbox = source, outbox
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue(WAITING)
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="greenloop-inbox", daemon=True).start()

    async def receive(self) -> dict[str, Any] | None:
        """The next message that can be handled, None at the end of the input; all others are refused here."""
        await asyncio.sleep(0)  # the message before begins first, however many wait
        while (line := await self._lines.get()) is not None:
            if not line.strip():
                continue
            try:
                message = read_message(line)
            except RequestError as error:
                await self.send({"jsonrpc": "2.0", "id": _request_id(line), "error": error.to_error_obj()})
            else:
                if message is not None:
                    return message
        return None

    async def send(self, message: dict[str, Any]) -> None:
        # `default`: the SDK puts exceptions into the data of an error.
        self._outbox.write(json.dumps(message, separators=(",", ":"), default=str).encode() + b"\n")

    async def close(self) -> None:
        """Waits a moment until everything is written."""
        await asyncio.to_thread(self._outbox.close)

    def _read(self) -> None:
        try:
            while line := self._source.readline(LONGEST):
                if len(line) == LONGEST and not line.endswith(b"\n"):
                    log.error("A message of more than %d bytes is skipped", LONGEST)
                    while (rest := self._source.readline(LONGEST)) and not rest.endswith(b"\n"):
                        pass
                    line = b"too long"
                asyncio.run_coroutine_threadsafe(self._lines.put(line), self._loop).result()
            asyncio.run_coroutine_threadsafe(self._lines.put(None), self._loop).result()
        except (OSError, RuntimeError):  # the loop has ended
            return


def read_message(line: bytes) -> dict[str, Any] | None:
    """The message of a line; None for a reply to nothing. Raises `RequestError` for what is no message."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        details = "The line is not valid JSON, or it is too long or too deeply nested."
        raise RequestError.parse_error({"details": details}) from None
    if not isinstance(data, dict):
        raise _invalid("A message is one object; there are no batches.")
    if "method" not in data:
        return _read_reply(data)
    if data.get("jsonrpc") != "2.0" or not isinstance(data["method"], str):
        raise _invalid("A message has a 'jsonrpc' of \"2.0\" and a text for 'method'.")
    if "id" in data and not _is_id(data["id"]):
        raise _invalid("The id of a request is a number or a text.")
    return data


def _read_reply(data: dict[str, Any]) -> dict[str, Any] | None:
    if not isinstance(data.get("id"), int) or isinstance(data["id"], bool):
        log.debug("A reply to nothing that is waited for")
        return None
    error = data.get("error")
    if error is None:
        return {"id": data["id"], "result": data.get("result")}
    if not isinstance(error, dict):
        error = {"message": str(error)}
    return {"id": data["id"], "error": {"code": -32603, "message": "", **error}}


def _invalid(details: str) -> RequestError:
    return RequestError.invalid_request({"details": details})


def _request_id(line: bytes) -> Any:
    try:
        number = json.loads(line)["id"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    return number if _is_id(number) else None


def _is_id(number: Any) -> bool:
    if isinstance(number, float):
        return math.isfinite(number)  # Python reads NaN, which no JSON has
    return isinstance(number, int | str) and not isinstance(number, bool)
