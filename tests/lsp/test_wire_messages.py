"""Messages that no good client sends: each request gets exactly one reply, and the server lives on unharmed."""

import json
from collections import Counter

import pytest

from .conftest import EVERYTHING

DEEP = 400
ODD = [
    None,
    True,
    0,
    -1,
    1 << 70,
    1.5,
    "",
    "x",
    "\0",
    "\ud800",
    "é" * 20_000,
    "../../../../etc/passwd",
    "file:///\0",
    "file:///%00",
    "file:///%ff%fe",
    "file:///\ud800.py",
    "file://[",
    "file:relative.py",
    "file:///",
    "file:///etc",
    "untitled:Untitled-1",
    [],
    [[]],
    [None, 1, "x"],
    {},
    {"": None},
    {"jsonrpc": "2.0", "id": 77_777, "method": "shutdown"},
    json.loads("[" * DEEP + "]" * DEEP),
    json.loads('{"a":' * DEEP + "1" + "}" * DEEP),
]
READABLE = (-32600, -32601, -32602)


async def all_answered(editor, requests):
    """Sends requests, one after the other; the replies by number, after exactly one came for each."""
    numbers = [editor.request(method, params) for method, params in requests]
    await editor.process.stdin.drain()
    pending = set(numbers)

    def all_came(message):
        if "method" not in message:
            pending.discard(message["id"])
        return not pending

    await editor.wait(all_came, "reply to each request", seconds=90)
    # Nothing more comes of any of them.
    last = {"textDocument": {"uri": "x"}, "position": {"line": 0, "character": 0}}
    await editor.reply(editor.request("textDocument/hover", last))
    replies = [message for message in editor.inbox if message and "id" in message and "method" not in message]
    counted = Counter(json.dumps(message["id"]) for message in replies)
    assert set(counted.values()) == {1}
    assert set(map(json.dumps, numbers)) <= set(counted)
    return {message["id"]: message for message in replies}


def understood(replies):
    """Every error says that the request was wrong, none that the server was."""
    errors = [reply["error"] for reply in replies.values() if "error" in reply]
    assert not {error["message"]: error for error in errors if error["code"] not in READABLE}


async def survived(editor):
    """Still speaking, and nothing went wrong inside."""
    assert await editor.hover() is None
    assert await editor.stop() == 0
    errors = await editor.errors()
    assert "Traceback" not in errors, errors[-3000:]


async def test_odd_params_of_every_request(editor):
    capabilities = (await editor.start(model="play:refuse"))["capabilities"]
    good = {"uri": editor.uri("test_m.py")}
    origin = {"line": 0, "character": 0}
    methods = ["textDocument/hover", "textDocument/codeAction", "workspace/executeCommand", "greenloop/refine"]
    methods += ["textDocument/codeLens"] if capabilities.get("codeLensProvider") else []
    requests = []
    for odd in ODD:
        shapes = [
            odd,
            {"textDocument": odd, "position": origin, "range": {"start": origin, "end": origin}, "context": {}},
            {"textDocument": {"uri": odd}, "position": origin},
            {"textDocument": {"uri": odd}, "range": {"start": origin, "end": origin}, "context": {"diagnostics": []}},
            {"textDocument": good, "range": {"start": odd, "end": odd}, "context": {"diagnostics": odd}},
            {"textDocument": good, "position": {"line": odd, "character": odd}},
            {"uri": odd, "position": origin},
            {"uri": good["uri"], "position": {"line": odd, "character": 0}},
            {"uri": good["uri"], "test": odd},
            {"command": odd, "arguments": odd},
        ]
        requests += [(method, shape) for method in methods for shape in shapes]
    replies = await all_answered(editor, requests)
    understood(replies)
    await survived(editor)


async def test_odd_arguments_of_every_command(editor):
    capabilities = (await editor.start(model="play:refuse"))["capabilities"]
    uri, origin = editor.uri("test_m.py"), {"line": 0, "character": 0}
    commands = capabilities["executeCommandProvider"]["commands"]
    assert len(commands) > 5
    requests = []
    for odd in ODD:
        arguments = [
            odd,
            [odd],
            [odd, odd],
            [{"uri": odd}],
            [{"uri": odd, "target": odd}],
            [{"uri": uri, "target": odd}],
            [{"uri": uri, "target": odd, "attempt": odd}],
            [{"uri": uri, "target": "test_m.py::test_double", "attempt": odd}],
            [{"uri": uri, "position": odd}],
            [{"uri": uri, "position": {"line": odd, "character": odd}}],
            [{"uri": uri, "position": origin, "preset": odd, "work_done_token": odd}],
            [{"uri": uri, "test": odd}],
            [{"uri": uri, "target": "x", "question": odd, "answer": odd}],
        ]
        requests += [
            ("workspace/executeCommand", {"command": command, "arguments": each})
            for command in commands
            for each in arguments
        ]
    replies = await all_answered(editor, requests)
    understood(replies)
    await survived(editor)


async def test_unknown_commands_methods_and_notifications(editor):
    await editor.start()
    requests = [("workspace/executeCommand", {"command": name}) for name in ("", "greenloop.nothing", "x" * 100_000)]
    requests += [(name, params) for name in ("", "$/nothing", "greenloop/nothing", "x" * 100_000) for params in ODD]
    requests += [("textDocument/didOpen", params) for params in ODD]
    replies = await all_answered(editor, requests)
    assert {reply["error"]["code"] for reply in replies.values() if "error" in reply} == set(READABLE)
    for params in ODD:
        for method in ("$/nothing", "nothing", "textDocument/hover", "initialize", "$/cancelRequest", "$/setTrace"):
            editor.notify(method, params)
    assert len([m for m in editor.inbox if m and "id" in m and "method" not in m]) == len(replies)
    await survived(editor)


async def test_odd_notifications_about_documents(editor):
    await editor.start()
    uri = editor.uri("m.py")
    here = {"line": 0, "character": 0}
    for odd in ODD:
        item = {"uri": odd, "languageId": odd, "version": odd, "text": odd}
        for params in (
            odd,
            {"textDocument": odd, "contentChanges": odd},
            {"textDocument": {"uri": odd, "version": 1}, "contentChanges": [{"text": ""}]},
            {"textDocument": {"uri": uri, "version": 1}, "contentChanges": odd},
            {"textDocument": {"uri": uri, "version": 1}, "contentChanges": [{"text": odd if odd != "x" else 1}]}
            if not isinstance(odd, str)
            else {},
            {"textDocument": item},
            {"textDocument": {**item, "uri": "file:///none/" + str(odd)[:20], "text": ""}},
            {"settings": odd},
            {"event": odd},
            {"event": {"added": [{"uri": odd, "name": "x"}], "removed": odd}},
            {"token": odd},
            {"id": odd},
            {"range": {"start": here, "end": odd}},
        ):
            for method in (
                "textDocument/didOpen",
                "textDocument/didChange",
                "textDocument/didClose",
                "textDocument/didSave",
                "workspace/didChangeConfiguration",
                "workspace/didChangeWorkspaceFolders",
                "window/workDoneProgress/cancel",
                "$/cancelRequest",
                "$/setTrace",
            ):
                editor.notify(method, params)
        await editor.process.stdin.drain()
    assert await editor.hover() is None
    editor.open("m.py")
    assert (await editor.call("greenloop/refine", {"uri": editor.uri("test_m.py"), "test": "test_m.py::test_double"}))[
        "solved"
    ]
    assert editor.text("m.py") == "def double(x):\n    return x * 2\n"
    assert await editor.stop() == 0


@pytest.mark.story("requests are refused outside of a session")
async def test_before_initialize_and_twice(editor):
    early = await editor.reply(editor.request("textDocument/hover", {}))
    assert early["error"]["code"] == -32002
    early = await editor.reply(editor.request("shutdown"))
    assert early["error"]["code"] == -32002
    editor.open("m.py")
    failed = await editor.reply(editor.request("initialize", {"capabilities": 3}))
    assert failed["error"]["code"] == -32602
    await editor.start()
    again = await editor.reply(editor.request("initialize", {"capabilities": EVERYTHING}))
    assert again["error"]["code"] == -32600
    await survived(editor)


async def test_capabilities_of_the_future_do_no_harm(editor):
    """A client newer than this server: what it cannot read is as if it were not declared."""
    future = json.loads(json.dumps(EVERYTHING))
    future["workspace"]["workspaceEdit"]["resourceOperations"] = ["copy", "create"]
    future["workspace"]["symbol"] = {"symbolKind": {"valueSet": [1, 99]}}
    future["textDocument"]["completion"] = 7
    future["textDocument"]["codeAction"]["resolveSupport"] = {"properties": 3}
    await editor.start(future)
    assert (await editor.actions())[0]["kind"] == "quickfix"
    await survived(editor)


async def test_diagnostics_of_others_that_cannot_be_read(editor):
    """Diagnostics of any other server come with the request for actions."""
    await editor.start()
    where = {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 4}}
    odd = [
        {"range": where, "message": "m", "severity": 9, "tags": [77], "source": 3, "code": {"value": 1}},
        {"range": where, "message": None, "relatedInformation": [{"location": None}]},
        {"message": "no range"},
    ]
    assert next(action["title"] for action in await editor.actions(diagnostics=odd)).startswith("Refine")


@pytest.mark.story("requests are refused outside of a session")
async def test_after_shutdown(editor):
    await editor.start()
    await editor.call("shutdown")
    for method in ("textDocument/hover", "shutdown", "initialize", "nothing"):
        assert (await editor.reply(editor.request(method, {})))["error"]["code"] == -32600
    editor.open("m.py")
    editor.notify("exit")
    assert await editor.ended() == 0


async def test_two_shutdowns_at_once(editor):
    await editor.start(model="play:hold")
    await editor.action("Refine")
    await editor.under_way()
    first, second = editor.request("shutdown"), editor.request("shutdown")
    editor.notify("$/cancelRequest", {"id": first})
    assert "error" not in await editor.reply(first)
    assert (await editor.reply(second))["error"]["code"] == -32600
    editor.notify("exit")
    assert await editor.ended() == 0


@pytest.mark.story("each request gets the reply with its id")
async def test_ids(editor):
    await editor.start(model="play:hold")
    refine = {
        "method": "greenloop/refine",
        "params": {"uri": editor.uri("test_m.py"), "test": "test_m.py::test_double"},
    }
    editor.send({"id": "same", **refine})
    await editor.under_way()
    # One under way has that id: the second is refused, the first goes on.
    editor.send({"id": "same", **refine})
    assert (await editor.reply("same"))["error"]["code"] == -32600
    # Replies and cancels that mean nothing, one with the id of a request of the client itself.
    for number in ("same", "unknown", 5, None, [1], {"a": 1}, True, 1.5):
        editor.send({"id": number, "result": None})
        editor.send({"id": number, "error": {"code": 1, "message": "x"}})
        if number != "same":
            editor.notify("$/cancelRequest", {"id": number})
    for number in (0, -7, 1 << 60, "", "é\0\ud800", "x" * 100_000):
        editor.send({"id": number, "method": "textDocument/hover", "params": hovered(editor)})
        assert "result" in await editor.reply(number)
    editor.send({"id": 8.0, "method": "textDocument/hover", "params": hovered(editor)})
    assert "result" in await editor.reply(8)
    editor.notify("$/cancelRequest", {"id": "same"})
    cancelled = lambda m: m.get("id") == "same" and m.get("error", {}).get("code") == -32800  # noqa: E731
    await editor.wait(cancelled, "the end of the first")
    assert len([m for m in editor.inbox if m.get("id") == "same"]) == 2
    assert await editor.stop() == 0


async def test_the_servers_own_requests_are_not_for_the_client_to_cancel(editor):
    editor.answers["workspace/applyEdit"] = editor.SILENCE
    await editor.start()
    number = editor.request("greenloop/refine", {"uri": editor.uri("test_m.py"), "test": "test_m.py::test_double"})
    asked = await editor.wait(lambda m: m.get("method") == "workspace/applyEdit")
    editor.notify("$/cancelRequest", {"id": asked["id"]})
    editor.send({"id": asked["id"], "result": editor.apply(asked["params"])})
    assert (await editor.reply(number))["result"]["applied"]


@pytest.mark.parametrize("name", ["jsonrpc", "id", "method"])
async def test_messages_without_a_needed_key(editor, name):
    await editor.start()
    message = {"jsonrpc": "2.0", "id": "it", "method": "textDocument/hover", "params": hovered(editor)}
    body = json.dumps({key: value for key, value in message.items() if key != name}).encode()
    editor.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert await editor.hover() is None
    about_it = [m for m in editor.inbox if m.get("id") == "it"]
    assert [m["error"]["code"] for m in about_it] == ([-32600] if name == "jsonrpc" else [])


async def test_documents_that_were_never_opened_or_twice(editor):
    await editor.start(opened=("m.py",))
    everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 9}}
    for uri in (editor.uri("test_m.py"), editor.uri("none.py"), "untitled:1"):
        item = {"uri": uri, "version": 3}
        change = {"range": everywhere, "text": "x"}
        editor.notify("textDocument/didChange", {"textDocument": item, "contentChanges": [change]})
        editor.notify("textDocument/didClose", {"textDocument": item})
    for _ in range(2):
        editor.open("test_m.py", version=9)
    # Versions that go backwards, ranges beyond the end: the text counts.
    uri = editor.uri("m.py")
    beyond = {"start": {"line": 2, "character": 0}, "end": {"line": 10**9, "character": 10**9}}
    for version, text in ((-4, "# end\n"), (-5, "")):
        item = {"uri": uri, "version": version}
        editor.notify(
            "textDocument/didChange", {"textDocument": item, "contentChanges": [{"range": beyond, "text": text}]}
        )
    editor.buffers[uri][0] = -5
    assert (await editor.call("greenloop/refine", {"uri": editor.uri("test_m.py"), "test": "test_m.py::test_double"}))[
        "applied"
    ]
    assert editor.text("m.py") == "def double(x):\n    return x * 2\n"
    await survived_with_runs(editor)


async def survived_with_runs(editor):
    assert await editor.stop() == 0
    assert "Traceback" not in await editor.errors()


def hovered(editor):
    return {"textDocument": {"uri": editor.uri("m.py")}, "position": {"line": 0, "character": 5}}
