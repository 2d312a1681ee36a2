"""Messages made at random of what real ones are made of: one reply to each request, and never an error of the server."""

import asyncio
import json
import re
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pygls.protocol import default_converter

from greenloop.lsp.server import create_server

from .conftest import EVERYTHING, FILES
from .stand_in import Play

KEYS = [
    "answer",
    "arguments",
    "attempt",
    "attempts",
    "cells",
    "character",
    "command",
    "context",
    "contentChanges",
    "diagnostics",
    "end",
    "event",
    "id",
    "kind",
    "line",
    "message",
    "name",
    "only",
    "options",
    "position",
    "preset",
    "question",
    "range",
    "section",
    "settings",
    "start",
    "structure",
    "target",
    "test",
    "text",
    "textDocument",
    "token",
    "triggerKind",
    "uri",
    "value",
    "version",
    "workDoneToken",
]
scalars = st.none() | st.booleans() | st.integers(-2, 1 << 33) | st.floats() | st.text(max_size=20)
words = st.sampled_from(["ROOT/m.py", "ROOT/test_m.py", "ROOT", "file:///", "untitled:1", "test_m.py::test_double"])
anything = st.recursive(
    scalars | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


def mostly(value):
    """What belongs there, and now and then anything."""
    return st.integers(0, 4).flatmap(lambda n: anything if n == 0 else value)


lines = mostly(st.integers(0, 6))
positions = mostly(st.fixed_dictionaries({"line": lines, "character": lines}))
ranges = mostly(st.fixed_dictionaries({"start": positions, "end": positions}))
documents = mostly(st.fixed_dictionaries({"uri": mostly(words), "version": mostly(st.integers(0, 9))}))
items = st.fixed_dictionaries(
    {"uri": mostly(words), "languageId": mostly(st.just("python")), "version": lines, "text": mostly(st.text())}
)
contexts = mostly(st.fixed_dictionaries({"diagnostics": mostly(st.lists(st.fixed_dictionaries({"range": ranges})))}))
changes = mostly(st.lists(st.fixed_dictionaries({"text": mostly(st.text())}, optional={"range": ranges}), max_size=2))
arguments = mostly(
    st.fixed_dictionaries(
        {"uri": mostly(words)},
        optional={"target": mostly(words), "test": mostly(words), "position": positions, "attempt": lines},
    )
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "textDocument": documents | items,
        "position": positions,
        "range": ranges,
        "context": contexts,
        "contentChanges": changes,
        "uri": mostly(words),
        "settings": anything,
    },
)


@st.composite
def messages(draw, methods, commands):
    message = {"jsonrpc": draw(mostly(st.just("2.0"))), "method": draw(st.sampled_from(methods) | st.text(max_size=9))}
    message["params"] = draw(mostly(bodies))
    if message["method"] == "workspace/executeCommand":
        each = mostly(st.lists(arguments, max_size=2))
        message["params"] = {"command": draw(mostly(st.sampled_from(commands))), "arguments": draw(each)}
    if draw(st.booleans()):
        message["id"] = draw(mostly(st.integers(0, 5) | st.text(max_size=3)))
    return message


class Sink:
    """Takes what the server writes."""

    def __init__(self):
        self.data = b""

    def write(self, data):
        self.data += data

    def messages(self):
        """Everything that was written, which must be whole messages and nothing else."""
        found, rest = [], self.data
        while rest:
            head, _, rest = rest.partition(b"\r\n\r\n")
            size = int(re.match(rb"Content-Length: (\d+)\r\n", head)[1])
            found.append(json.loads(rest[:size]))
            rest = rest[size:]
        return found


SERVER = create_server(Play()).protocol.fm
KNOWN = {*SERVER.builtin_features, *SERVER.features} - {"initialize", "exit"}
METHODS = [*sorted(KNOWN), "$/cancelRequest", "nothing"]
COMMANDS = sorted(SERVER.commands)


@pytest.fixture(scope="module", autouse=True)
def one_converter():
    """To make one takes longer than a whole conversation."""
    converter = default_converter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("greenloop.lsp.server.default_converter", lambda: converter)
        # Nothing is ever fetched here.
        patch.setattr("greenloop.plugins.embedded.weights.pull", nothing)
        yield


async def nothing(_progress):
    """Fetches nothing."""


@settings(max_examples=80, derandomize=True)
@given(sent=st.lists(messages(METHODS, COMMANDS), max_size=25))
@example(sent=[{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}] * 2)
def test_one_reply_to_each_request(sent, tmp_path_factory):
    root = tmp_path_factory.getbasetemp() / "fuzz"
    root.mkdir(exist_ok=True)
    for name, text in FILES.items():
        (root / name).write_text(text)
    sent = json.loads(json.dumps(sent).replace("ROOT", root.as_uri()))
    replies = asyncio.run(conversation(root, sent))
    expected = Counter(json.dumps(reply_id(message)) for message in sent if "id" in message)
    assert Counter(json.dumps(reply["id"]) for reply in replies) == expected
    assert not [reply for reply in replies if reply.get("error", {}).get("code") == -32603]


async def conversation(root, sent):
    """The server's replies to messages that come one right after the other, and to its end."""
    server, sink = create_server(Play()), Sink()
    server.protocol.set_writer(sink)
    options = {"model": "play:refuse"}
    params = {"processId": None, "rootUri": root.as_uri(), "capabilities": EVERYTHING, "initializationOptions": options}
    first = {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params}
    for message in [first, *sent]:
        server.protocol.receive(json.dumps(message).encode())
        await asyncio.sleep(0)
    await server.parts.tasks.close()
    under_way = [future for future in server.protocol._request_futures.values() if asyncio.isfuture(future)]
    await asyncio.gather(*under_way, return_exceptions=True)
    # The replies go out in callbacks of what has just ended.
    await asyncio.sleep(0)
    return [m for m in sink.messages() if "method" not in m and m["id"] != "first"]


def reply_id(message):
    """The id that a reply has: none where the request's own is no id."""
    number = message["id"]
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None
