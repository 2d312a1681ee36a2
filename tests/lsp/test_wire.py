"""The bytes on the wire: headers in every form, noise of libraries and children, clients that send or read nothing."""

import asyncio
import io
import json
import signal
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest

from editor_runs import a_run
from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.connection import inbox as inbox_module
from greenloop.lsp.connection.inbox import Inbox
from greenloop.lsp.presenters.progress import RunProgressLine
from greenloop.lsp.server import create_server

from .conftest import HERE, environment, served
from .stand_in import Play

ODD_IDS = (b"null", b"[1]", b'{"a": 1}', b"true", b"1.5", b"NaN", b"1e999")


ASKED = (
    "workspace/configuration",
    "workspace/applyEdit",
    "workspace/codeLens/refresh",
    "window/workDoneProgress/create",
    "window/showDocument",
    "window/showMessageRequest",
    "client/registerCapability",
)


@pytest.fixture
async def editor(project, tmp_path):
    """A process of its own, started as editors start it: what its pipes carry is looked at here."""
    async for editor in served(project, tmp_path, str(HERE / "stand_in.py")):
        yield editor


def frame(message, head=b"Content-Length: %d\r\n\r\n"):
    """The bytes of a message; one that is bytes already is taken as it is."""
    body = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
    return head % len(body) + body


def hover(number):
    params = {"textDocument": {"uri": "file:///none.py"}, "position": {"line": 0, "character": 0}}
    return {"id": number, "method": "textDocument/hover", "params": params}


async def refused(editor, count=1):
    """The codes of `count` replies that could not be told whose they are."""
    found = lambda: [m for m in editor.inbox if m and m.get("id", "") is None]  # noqa: E731
    await editor.wait(lambda _m: len(found()) >= count, f"{count} replies without an id")
    return [message["error"]["code"] for message in found()]


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: %d\r\n\r\n",
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Length :  %d  \r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
        b"Content-Length: %d\n\n",
        b"\r\n\r\nContent-Length: %d\r\n\r\n",
        b"X-Unknown\r\nContent-Length: %d\r\n\r\n",
    ],
)
def test_headers_in_every_form(head):
    stream = io.BytesIO(frame(b'{"a": 1}', head) + frame(b"[2]", head))
    inbox = Inbox(stream)
    assert [inbox.read(), inbox.read(), inbox.read()] == [b'{"a": 1}', b"[2]", None]


@pytest.mark.parametrize("length", [b"-5", b"five", b"", b"9" * 5000, b"1e3", b"0"])
def test_a_length_that_is_none_costs_its_own_message_only(length):
    stream = io.BytesIO(b"Content-Length: " + length + b"\r\n\r\n" + frame(b"after"))
    inbox = Inbox(stream)
    assert [inbox.read(), inbox.read(), inbox.read()] == [b"", b"after", None]


def test_a_message_longer_than_it_says_costs_itself_only():
    inbox = Inbox(io.BytesIO(b"Content-Length: 4\r\n\r\nlong, and longer" + frame(b"after")))
    assert [inbox.read(), inbox.read(), inbox.read()] == [b"long", b"after", None]


def test_the_end_in_the_middle_of_a_message_is_the_end():
    whole = frame(b"whole")
    for length in range(len(whole)):
        assert Inbox(io.BytesIO(whole[:length])).read() is None


class Trickle(io.BytesIO):
    """Bytes that come in pieces."""

    def read(self, size):
        return super().read(min(size, 7))


def test_a_message_that_is_too_long_is_passed_over():
    inbox = Inbox(Trickle(frame(b"x" * 101) + frame(b"x" * 100) + frame(b"after")), longest=100)
    assert [inbox.read(), inbox.read(), inbox.read(), inbox.read()] == [b"", b"x" * 100, b"after", None]


def test_a_line_without_end_is_read_in_pieces():
    stream = io.BytesIO(b"x" * 2 * inbox_module.LINE + b"\r\n\r\n")
    assert Inbox(stream).read() == b""


@pytest.mark.story("the server reads messages however they come")
async def test_byte_by_byte_and_several_at_once(editor):
    await editor.start()
    for byte in frame(hover("slow")):
        editor.process.stdin.write(bytes([byte]))
        await editor.process.stdin.drain()
    await editor.reply("slow")
    glued = b"".join(frame(hover(f"glued {number}")) for number in range(200))
    editor.process.stdin.write(glued[:-7])
    await editor.reply("glued 198")
    editor.process.stdin.write(glued[-7:])
    await editor.reply("glued 199")
    answered = [message["id"] for message in editor.inbox if str(message.get("id")).startswith("glued")]
    assert answered == [f"glued {number}" for number in range(200)]


NO_MESSAGES = [
    (b"{", -32700),
    (b"no json", -32700),
    (b'"\xff\xfe\xfa"', -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "\xc3\x28"}', -32700),
    (b"[" * 200_000, -32700),
    (b'{"a":' * 100_000, -32700),
    (b"[]", -32600),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}]', -32600),
    (b"null", -32600),
    (b"3", -32600),
    (b'"text"', -32600),
    *((b'{"jsonrpc": "2.0", "id": %s, "method": "shutdown"}' % odd, -32600) for odd in ODD_IDS),
]


@pytest.mark.story("the server survives whatever is sent to it")
async def test_what_is_no_message_gets_one_reply_without_an_id(editor):
    await editor.start()
    for number, (body, code) in enumerate(NO_MESSAGES):
        editor.process.stdin.write(frame(body))
        assert (await refused(editor, number + 1))[number:] == [code], body[:80]
    assert await editor.hover() is None
    assert len(await refused(editor)) == len(NO_MESSAGES)


async def test_a_length_of_two_gigabytes_allocates_nothing(editor):
    await editor.start()
    await editor.state()
    server = psutil.Process(editor.process.pid)
    before = server.memory_info()
    editor.process.stdin.write(b"Content-Length: 2000000000\r\n\r\n{")
    assert await refused(editor) == [-32700]
    after = server.memory_info()
    assert after.vms - before.vms < 200 << 20
    assert after.rss - before.rss < 20 << 20
    editor.process.stdin.close()
    assert await editor.ended() == 1


@pytest.mark.story("a server ends with its editor")
async def test_input_that_ends_within_a_message_ends_the_server(editor):
    await editor.start()
    editor.process.stdin.write(frame(hover(1))[:-3])
    editor.process.stdin.close()
    assert await editor.ended() == 1
    assert "Traceback" not in await editor.errors()


@pytest.mark.story("nothing but the protocol is written to standard output")
async def test_noise_in_the_server_never_reaches_the_protocol(editor):
    """Prints with and without an end, bytes, C's own output and children; the fixture checks every byte that came."""
    await editor.start(model="play:din")
    params = {"uri": editor.uri("test_m.py"), "position": {"line": 3, "character": 0}}
    assert (await editor.call("greenloop/refine", params))["solved"]
    assert await editor.stop() == 0
    errors = await editor.errors()
    for noise in ("print without end", "print to buffer", "bytes to 1", "puts of C", "child to 1", "os.system"):
        assert noise in errors


async def test_a_client_that_stops_reading_costs_little_and_gets_everything_later(editor):
    """A suspended terminal editor: the server works on, leaves progress out, and nothing else is lost."""
    editor.reader.cancel()
    await asyncio.gather(editor.reader, return_exceptions=True)
    transport_of_output = editor.process._transport.get_pipe_transport(1)
    transport_of_output.pause_reading()
    editor.send({"id": "i", "method": "initialize", "params": {"capabilities": {}, "rootUri": editor.root.as_uri()}})
    editor.notify("initialized", {})
    for number in range(10_000):
        editor.send(hover(number))
        if not number % 1000:
            await editor.process.stdin.drain()
    await editor.process.stdin.drain()
    transport_of_output.resume_reading()
    editor.reader = asyncio.create_task(editor._read())
    await editor.reply(9_999)
    numbers = [message["id"] for message in editor.inbox if isinstance(message.get("id"), int)]
    assert numbers == list(range(10_000))


async def test_progress_is_left_out_while_nobody_reads(project):
    server, sent = create_server(Play()), []
    server.protocol.notify = lambda method, params: sent.append((method, params.value.kind))
    server.parts.client.outbox = SimpleNamespace(behind=True)
    target = Target(kind=TargetKind.TEST, path="t.py", qualname="t", selector="t.py::t", start=1, end=1, name_line=1)
    run = a_run(project, target)
    run.request = replace(run.request, progress_token="token")
    bar = RunProgressLine(server.parts.editor, run)
    await bar.open()
    run.progress.status = "left out"
    bar._report()
    server.parts.client.outbox.behind = False
    bar._report()
    run.progress.status = "left out"
    server.parts.client.outbox.behind = True
    bar._report()
    bar.end("over")
    assert [kind for _method, kind in sent] == ["begin", "report", "end"]


async def test_a_client_that_never_reads_again_ends_the_server(tmp_path):
    """64 MB wait for it: the server ends by itself, and says why."""
    code, errors = await asyncio.to_thread(_never_read, tmp_path)
    assert code == 128 + signal.SIGTERM
    assert "The client does not read" in errors


def _never_read(tmp_path):
    command, pipe = [sys.executable, str(HERE / "stand_in.py")], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment(tmp_path)) as server:
        try:
            server.stdin.write(frame({"id": 0, "method": "initialize", "params": {"capabilities": {}}}))
            # Each reply repeats the id.
            for number in range(80):
                server.stdin.write(frame(hover(f"{number}" + "x" * (1 << 20))))
                server.stdin.flush()
        except BrokenPipeError:
            pass
        try:
            return server.wait(30), server.stderr.read().decode()
        finally:
            server.kill()


@pytest.mark.parametrize("reply", ["silence", "not found", "nonsense"])
async def test_a_client_that_answers_nothing_or_nonsense(impatient, reply):
    """Everything that can go on without an answer goes on; the result is kept and offered."""
    editor = impatient
    answer = {"silence": editor.SILENCE, "not found": Exception("no such method"), "nonsense": [{"": 0}, None, "t"]}
    for method in ASKED:
        editor.answers[method] = answer[reply]
    await editor.start()
    result = await editor.call("greenloop/refine", {"uri": editor.uri("test_m.py"), "test": "test_m.py::test_double"})
    assert (result["solved"], result["applied"]) == (True, False)
    await editor.told("the editor did not apply it")
    titles = [action["title"] for action in await editor.actions()]
    assert any(title.startswith("Apply refined double") for title in titles)
    await editor.action("Show attempts")
    await editor.told("The attempts are in")
    assert bool(editor.got("$/progress")) is (reply == "nonsense")
    assert await editor.stop() == 0
    assert "Traceback" not in await editor.errors()
