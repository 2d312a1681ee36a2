"""A bare LSP client of a real server, for the benchmarks."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parents[2] / "server"
# What such a client declares: enough that nothing has to be done in its place.
CAPABILITIES = {
    "textDocument": {
        "hover": {"contentFormat": ["markdown"]},
        "publishDiagnostics": {"relatedInformation": True},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor.rewrite"]}}},
    }
}


class Client:
    """Owns a server process, its pending requests and what it shows."""

    def __init__(self, process: asyncio.subprocess.Process, root: Path) -> None:
        self.process, self.root = process, root
        self.pending: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        self.changed = asyncio.Event()
        self.last = 0
        self.versions: dict[str, int] = {}
        self.lenses = False
        # Tokens of progress that the server began; the id of a request that was sent to be cancelled.
        self.tokens: list[str] = []
        self.refining = 0
        self.reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stdout
        while (head := await self.process.stdout.readline()).startswith(b"Content-Length:"):
            while await self.process.stdout.readline() != b"\r\n":
                pass
            self._handle(json.loads(await self.process.stdout.readexactly(int(head.split(b":")[1]))))
        for future in self.pending.values():
            future.cancel()

    def _handle(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            future = self.pending.pop(message["id"])
            if not future.done():
                future.set_result(message)
        elif "id" in message:
            if message["method"] == "window/workDoneProgress/create":
                self.tokens.append(message["params"]["token"])
            self.send(id=message["id"], result=None)
        elif message["method"] == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
            self.changed.set()

    def send(self, **message: Any) -> None:
        assert self.process.stdin
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def request(self, method: str, params: Any) -> asyncio.Future[Mapping[str, Any]]:
        self.last += 1
        future = self.pending[self.last] = asyncio.get_running_loop().create_future()
        self.send(id=self.last, method=method, params=params)
        return future

    async def call(self, method: str, params: Any = None) -> Any:
        reply = await self.request(method, params)
        if "error" in reply:
            raise SystemExit(f"{method}: {reply['error']}")
        return reply["result"]

    async def command(self, name: str, *arguments: Any) -> Any:
        return await self.call("workspace/executeCommand", {"command": name, "arguments": list(arguments)})

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def open(self, name: str) -> None:
        self.versions[name] = 1
        text = (self.root / name).read_text()
        item = {"uri": self.uri(name), "languageId": "python", "version": 1, "text": text}
        self.send(method="textDocument/didOpen", params={"textDocument": item})

    def type_key(self, name: str, line: int) -> None:
        """Types a letter at the start of a comment line, or takes it away again."""
        self.versions[name] += 1
        typed = self.versions[name] % 2 == 0
        end = {"line": line, "character": 2 if typed else 3}
        change = {"range": {"start": {"line": line, "character": 2}, "end": end}, "text": "x" if typed else ""}
        document = {"uri": self.uri(name), "version": self.versions[name]}
        self.send(method="textDocument/didChange", params={"textDocument": document, "contentChanges": [change]})

    async def wait_until(self, condition: Any, seconds: float = 300.0) -> None:
        async with asyncio.timeout(seconds):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    def memory(self) -> float:
        """Mebibytes that are resident."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


async def start_server(
    folder: Path,
    root: Path,
    names: Iterable[str],
    options: Mapping[str, Any],
    extra_capabilities: Mapping[str, Any] | None = None,
) -> Client:
    """A server of its own with these files of `root` open; `extra_capabilities` are declared as well."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "greenloop", "serve",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        limit=1 << 26, env={**os.environ, "PYTHONPATH": str(SOURCES), "XDG_STATE_HOME": str(folder / "state")},
    )  # fmt: skip
    client = Client(process, root)
    reply = await client.call(
        "initialize",
        {
            "processId": os.getpid(),
            "rootUri": root.as_uri(),
            "workspaceFolders": [{"uri": root.as_uri(), "name": "project"}],
            "capabilities": {**CAPABILITIES, **(extra_capabilities or {})},
            "initializationOptions": {"interpreter": sys.executable, "sandbox.kind": "bubblewrap", **options},
        },
    )
    client.lenses = "codeLensProvider" in reply["capabilities"]
    client.send(method="initialized", params={})
    for name in names:
        client.open(name)
    return client
