"""Whatever a client sends is a message, or is answered with one error, and the next line is read."""

from __future__ import annotations

import asyncio
import io
import json
import os
from typing import Any

import acp
import pytest

from greenloop.plugins.agents.acp import transport
from greenloop.plugins.agents.acp.transport import LineTransport, read_message
from greenloop.serving.stdio import Outbox

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "m"}\n'


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b"null", -32600),
        (b'{"id": 1, "method": "m"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": ["m"]}', -32600),
        (b'{"jsonrpc": "2.0", "id": [], "method": "m"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "m"}', -32600),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "m"}', -32600),
    ],
)
def test_what_is_no_message_is_refused_with_a_reason(line, code):
    with pytest.raises(acp.RequestError) as refused:
        read_message(line)
    assert refused.value.code == code
    assert refused.value.data["details"]


@pytest.mark.parametrize("line", [b'{"id": {}, "result": 1}', b'{"id": "a", "result": 1}', b"{}", b'{"id": true}'])
def test_a_reply_to_nothing_is_left_out(line):
    assert read_message(line) is None


@pytest.mark.parametrize(
    ("error", "read"),
    [
        ('"no"', {"code": -32603, "message": "no"}),
        ('{"code": 4}', {"code": 4, "message": ""}),
        ("[1]", {"code": -32603, "message": "[1]"}),
    ],
)
def test_an_odd_error_becomes_one_of_the_protocol(error, read):
    line = f'{{"id": 1, "result": null, "error": {error}}}'.encode()
    assert read_message(line) == {"id": 1, "error": read}


def connect(data: bytes) -> tuple[LineTransport, io.BytesIO]:
    sink = io.BytesIO()
    return LineTransport(io.BytesIO(data), Outbox(sink)), sink


async def test_the_input_ends_after_its_last_message():
    given, _sink = connect(b"\n  \n" + PING + PING.strip())
    assert [await given.receive() for _ in range(3)] == [json.loads(PING)] * 2 + [None]


async def test_a_refusal_names_the_request_where_it_has_an_id():
    given, sink = connect(b'{"id": 7, "method": "m"}\nx\n' + PING)
    assert await given.receive() == json.loads(PING)
    await given.close()
    sent = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert [(each["id"], each["error"]["code"]) for each in sent] == [(7, -32600), (None, -32700)]


async def test_a_line_that_is_too_long_is_skipped():
    given, sink = connect(b"x" * (transport.LONGEST + 1) + b"\n" + PING)
    assert await given.receive() == json.loads(PING)
    await given.close()
    assert json.loads(sink.getvalue())["error"]["code"] == -32700


async def test_what_is_no_json_in_an_error_is_sent_as_text():
    given, sink = connect(b"")
    await given.send({"id": 1, "error": {"data": ValueError("odd")}})
    await given.close()
    assert json.loads(sink.getvalue())["error"]["data"] == "odd"


async def test_a_client_that_sends_faster_than_it_is_read_waits():
    count = 10 * transport.WAITING
    source, sink = os.pipe()
    given = LineTransport(os.fdopen(source, "rb"), Outbox(io.BytesIO()))

    def send() -> None:
        with os.fdopen(sink, "wb") as pipe:
            pipe.write(PING * count)

    sending = asyncio.create_task(asyncio.to_thread(send))
    received: list[Any] = []
    while (message := await given.receive()) is not None:
        received.append(message)
    await sending
    assert len(received) == count
