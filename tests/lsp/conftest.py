"""A bare client over stdio that sees every byte and waits for messages, never for time."""

import asyncio
import functools
import json
import os
import sys
from pathlib import Path

import pytest

from project_files import write_files

from .forked import Forks

HERE = Path(__file__).parent
LIMIT = 1 << 26  # bytes of a message
# Seconds between two messages: with a few hundredths a test that reads what was not waited for always fails.
DRIP = float(os.environ.get("GREENLOOP_DRIP", "0"))
TURNS = 5  # of the loop, from a message to the test that waits for it
# The server's code, and what stand-ins share.
SOURCES = os.pathsep.join(str(HERE.parents[1] / each) for each in ("server", "tests/support"))
FILES = {
    "m.py": "def double(x):\n    return x + 1\n",
    "test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n",
}
EVERYTHING = {
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create"]},
    },
    "textDocument": {
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor.rewrite"]}},
            "tagSupport": {"valueSet": [1]},
        },
        "hover": {"contentFormat": ["markdown"]},
        "publishDiagnostics": {"relatedInformation": True},
        "synchronization": {"didSave": True},
    },
    "window": {
        "workDoneProgress": True,
        "showDocument": {"support": True},
        "showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}},
    },
}


def without(capabilities, *paths):
    """A copy that lacks some capabilities, named by dotted paths."""
    copy = json.loads(json.dumps(capabilities))
    for path in paths:
        *parents, last = path.split(".")
        inner = copy
        for name in parents:
            inner = inner[name]
        del inner[last]
    return copy


class Editor:
    """A client with buffers. `answers` maps a server's request to its reply: a value, or a function of the params.

    A reply of `SILENCE` is none at all; of an exception, an error.
    """

    SILENCE = object()
    client_name = ""

    def __init__(self, process, root):
        self.process, self.root = process, root
        self.inbox, self.waiters, self.junk, self.edits = [], [], b"", []
        self.buffers, self.answers, self.ids = {}, {}, 0
        self.answers["workspace/applyEdit"] = self.apply
        self.answers["workspace/configuration"] = lambda params: [None for _ in params["items"]]
        self.reader = asyncio.create_task(self._read())

    def uri(self, name):
        return (self.root / name).as_uri()

    # -- the wire -------------------------------------------------------------------------------------------------

    async def _read(self):
        stream = self.process.stdout
        while line := await stream.readline():
            if not line.startswith(b"Content-Length: "):
                self.junk += line
                continue
            size = int(line.split(b":")[1])
            while await stream.readline() != b"\r\n":
                pass
            self._take(json.loads(await stream.readexactly(size)))
            await self._turn()
        self._take(None)

    async def _turn(self):
        """Lets whoever waits for a message go on before the next is read.

        Otherwise a test would often, by luck, find what the server sends right after that one, and not always.
        """
        await asyncio.sleep(DRIP)
        for _ in range(TURNS):
            await asyncio.sleep(0)

    def _take(self, message):
        if message and "method" in message and "id" in message:
            self._answer(message)
        self.inbox.append(message)
        for waiter in self.waiters:
            waiter.set()

    def _answer(self, message):
        answer = self.answers.get(message["method"])
        if callable(answer):
            answer = answer(message["params"])
        if answer is self.SILENCE:
            return
        if isinstance(answer, Exception):
            self.send({"id": message["id"], "error": {"code": -32601, "message": str(answer), "data": None}})
        else:
            self.send({"id": message["id"], "result": answer})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method, params=None):
        self.send({"method": method, "params": params})

    def request(self, method, params=None):
        self.ids += 1
        self.send({"id": self.ids, "method": method, "params": params})
        return self.ids

    async def wait(self, holds, what="a message", seconds=60):
        """The first message, also an earlier one, for which `holds`."""
        event, seen = asyncio.Event(), 0
        self.waiters.append(event)
        try:
            async with asyncio.timeout(seconds):
                while True:
                    for message in self.inbox[seen:]:
                        seen += 1
                        if message is not None and holds(message):
                            return message
                    event.clear()
                    await event.wait()
        except TimeoutError:
            known = [m and (m.get("method") or f"reply {m.get('id')}") for m in self.inbox]
            texts = [
                m["params"]["message"]
                for m in self.inbox
                if m and str(m.get("method")).startswith("window/show") and "message" in m["params"]
            ]
            raise AssertionError(f"no {what}; came: {known}; shown: {texts}") from None
        finally:
            self.waiters.remove(event)

    async def reply(self, number):
        return await self.wait(lambda m: m.get("id") == number and "method" not in m, f"reply {number}")

    async def call(self, method, params=None):
        message = await self.reply(self.request(method, params))
        assert "error" not in message, message
        return message["result"]

    def got(self, method):
        return [m["params"] for m in self.inbox if m and m.get("method") == method]

    async def told(self, text):
        said = lambda m: text in (m.get("params") or {}).get("message", "")  # noqa: E731
        kinds = ("window/showMessage", "window/showMessageRequest")
        return await self.wait(lambda m: m.get("method") in kinds and said(m), f"message with {text!r}")

    # -- the session ----------------------------------------------------------------------------------------------

    async def start(self, capabilities=EVERYTHING, opened=("m.py", "test_m.py"), client="", **options):
        params = {
            **({"clientInfo": {"name": client or self.client_name}} if client or self.client_name else {}),
            "processId": None,
            "rootUri": self.root.as_uri(),
            "workspaceFolders": [{"uri": self.root.as_uri(), "name": "w"}],
            "capabilities": capabilities,
            "initializationOptions": {"model": "play:solve", **options},
        }
        result = await self.call("initialize", params)
        self.notify("initialized", {})
        for name in opened:
            self.open(name)
        return result

    def open(self, name, text=None, version=0):
        text = (self.root / name).read_bytes().decode() if text is None else text
        self.buffers[self.uri(name)] = [version, text]
        item = {"uri": self.uri(name), "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def close(self, name):
        del self.buffers[self.uri(name)]
        self.notify("textDocument/didClose", {"textDocument": {"uri": self.uri(name)}})

    def save(self, name):
        """Writes the buffer to the disk as an editor does."""
        (self.root / name).write_bytes(self.text(name).encode())
        self.notify("textDocument/didSave", {"textDocument": {"uri": self.uri(name)}})

    def change(self, name, text):
        self._changed(self.uri(name), text)

    def _changed(self, uri, text):
        version = self.buffers[uri][0] + 1
        self.buffers[uri] = [version, text]
        item = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": item, "contentChanges": [{"text": text}]})

    def text(self, name):
        return self.buffers[self.uri(name)][1]

    def apply(self, params):
        """Applies an edit as a good editor does: versions checked, closed files opened."""
        self.edits.append(params)
        edit = params["edit"]
        changes = edit.get("documentChanges") or [
            {"textDocument": {"uri": uri, "version": None}, "edits": edits} for uri, edits in edit["changes"].items()
        ]
        for change in changes:
            if "kind" in change:
                self.buffers[change["uri"]] = [0, ""]
                continue
            uri, version = change["textDocument"]["uri"], change["textDocument"]["version"]
            if uri not in self.buffers:
                path = self.root / uri.rsplit("/", 1)[1]
                self.buffers[uri] = [0, path.read_bytes().decode()]
            if version is not None and version != self.buffers[uri][0]:
                return {"applied": False, "failureReason": "stale"}
            text = edited(self.buffers[uri][1], change["edits"])
            if self.buffers[uri][0] == 0 and version is None:
                self.buffers[uri][1] = text
                item = {"uri": uri, "languageId": "python", "version": 0, "text": text}
                self.notify("textDocument/didOpen", {"textDocument": item})
            else:
                self._changed(uri, text)
        return {"applied": True}

    async def actions(self, name="test_m.py", line=3, only=None, diagnostics=()):
        here = {"line": line, "character": 6}
        context = {"diagnostics": list(diagnostics), **({"only": only} if only else {})}
        document = {"uri": self.uri(name)}
        params = {"textDocument": document, "range": {"start": here, "end": here}, "context": context}
        return await self.call("textDocument/codeAction", params) or []

    async def action(self, title, **where):
        """Chooses the action whose title starts with `title`, as a user does."""
        offered = await self.actions(**where)
        action = next((a for a in offered if a["title"].startswith(title)), None)
        assert action, f"{title}: not in {[each['title'] for each in offered]}"
        command = action["command"] if isinstance(action.get("command"), dict) else action
        return await self.execute(command["command"], *command["arguments"])

    async def execute(self, command, *arguments):
        return await self.call("workspace/executeCommand", {"command": command, "arguments": list(arguments)})

    async def hover(self, name="m.py", line=0, character=5):
        position = {"line": line, "character": character}
        found = await self.call("textDocument/hover", {"textDocument": {"uri": self.uri(name)}, "position": position})
        return found and found["contents"]

    def shown(self, name="test_m.py"):
        """The diagnostics that a file shows now."""
        pushed = [p for p in self.got("textDocument/publishDiagnostics") if p["uri"] == self.uri(name)]
        return pushed[-1]["diagnostics"] if pushed else []

    async def diagnosed(self, holds, name="test_m.py"):
        """Waits until a file's diagnostics are such; also if they were."""
        uri = self.uri(name)
        pushed = "textDocument/publishDiagnostics"
        found = await self.wait(
            lambda m: m.get("method") == pushed and m["params"]["uri"] == uri and holds(m["params"]["diagnostics"]),
            "such diagnostics",
        )
        return found["params"]["diagnostics"]

    async def state(self):
        return await self.call("test/state")

    async def under_way(self):
        """Waits until attempt 1 was tested."""
        return await self.diagnosed(lambda items: any("attempt 1/" in item["source"] for item in items))

    async def stop(self):
        await self.call("shutdown")
        self.notify("exit")
        return await self.ended()

    async def ended(self, seconds=10):
        async with asyncio.timeout(seconds):
            return await self.process.wait()

    async def errors(self):
        """Everything on the standard error of an ended server."""
        return (await self.process.stderr.read()).decode()


def edited(text, edits):
    rows = [*text.splitlines(keepends=True), ""]

    def at(point):
        return sum(map(len, rows[: point["line"]])) + point["character"]

    for edit in sorted(edits, key=lambda edit: at(edit["range"]["start"]), reverse=True):
        text = text[: at(edit["range"]["start"])] + edit["newText"] + text[at(edit["range"]["end"]) :]
    return text


@pytest.fixture
def files():
    """The project's texts by path; a module of tests may have its own."""
    return FILES


@pytest.fixture
def project(tmp_path, files):
    root = tmp_path / "w s#ü"
    root.mkdir()
    write_files(root, files)
    return root


@pytest.fixture
async def real(project, tmp_path):
    """The real server and engine, not initialized yet."""
    async for editor in served(project, tmp_path):
        yield editor


@pytest.fixture
async def editor(project, tmp_path):
    """A running server with the engine's stand-in, not initialized yet."""
    async for editor in opened(project, tmp_path):
        yield editor


async def opened(project, tmp_path, *arguments):
    """The server with the engine's stand-in, and an editor at its other end."""
    process = await stand_in(tmp_path, *arguments)
    async for editor in used(process, project):
        yield editor
    process.close()


def editor_with(argument):
    """As `editor`, with an argument for the stand-in."""

    @pytest.fixture
    async def other_editor(project, tmp_path):
        async for editor in opened(project, tmp_path, argument):
            yield editor

    return other_editor


modelless = editor_with("--without-model")  # on a machine without any model
hurried = editor_with("--in-a-hurry")  # questions are waited for a moment only
impatient = editor_with("--impatient")  # an editor that does not answer is waited for a moment only
unshowable = editor_with("--unshowable")  # what a run shows in the end cannot be shown


@pytest.fixture(autouse=True)
def _projects_without_plugins(request, monkeypatch):
    """The real engine's projects get an interpreter without plugins: a run then takes a fifth of the time."""
    if any("bubblewrap" in mark.args for mark in request.node.iter_markers("needs")):
        monkeypatch.setenv("GREENLOOP_INTERPRETER", str(request.getfixturevalue("bare_python")))


async def served(project, tmp_path, *arguments, kind=None):
    """A server with an editor (of the class `kind`) at its other end; without arguments the real server and engine."""
    process = await spawn(tmp_path, *(arguments or ("-m", "greenloop.lsp")))
    async for editor in used(process, project, kind):
        yield editor


async def used(process, project, kind=None):
    editor = (kind or Editor)(process, project)
    yield editor
    if process.returncode is None:
        process.kill()
    await process.wait()
    editor.reader.cancel()
    assert editor.junk == b"", "something but the protocol was written to standard output"


def environment(tmp_path):
    return {
        **os.environ,
        "PYTHONPATH": SOURCES,
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }


async def spawn(tmp_path, *arguments):
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=environment(tmp_path),
        cwd="/",
        limit=LIMIT,
    )


async def stand_in(tmp_path, *arguments):
    """The server with the engine's stand-in, without the start that hundreds of tests would wait for."""
    return await _forks().start(*arguments, environment=environment(tmp_path), folder="/", limit=LIMIT)


@functools.cache
def _forks():
    return Forks(HERE / "stand_in.py", {**os.environ, "PYTHONPATH": SOURCES})
