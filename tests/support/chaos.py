"""A random session of an editor with the server, by seed: typing, saving, closing, refining, applying, all mixed.

`python -m tests.support.chaos --seed N --operations M` replays one; a failure names the shortest failing beginning.
Afterwards: the server's texts are the editor's, every edit changed only what the engine changed, nothing on the disk
was written by anybody else, no diagnostics are stale, nothing is left running, memory has not grown.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from chaos_editor import Editor  # noqa: E402
from chaos_operations import OPERATIONS  # noqa: E402
from chaos_texts import LINE, Broken, digest  # noqa: E402
from chaos_typing import text_of  # noqa: E402
from client_capabilities import captured_capabilities, captured_clients, find_capability  # noqa: E402

SERVER = HERE.parents[1] / "server"
SYNC = 10  # operations between two comparisons with the server
SETTLED = 1000  # operations after which memory is measured first
GROWTH = 10.0  # MB
PATIENCE = 30.0
CONFIGURATION = "pytest.ini"
# How often somebody stops typing, and for how long, in seconds.
THINKS, THINKING = 0.03, 0.5
CAPABILITIES = {
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "codeLens": {"refreshSupport": True},
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create"]},
    },
    "textDocument": {
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor.rewrite"]}}},
        "hover": {"contentFormat": ["markdown"]},
        "publishDiagnostics": {"relatedInformation": True},
    },
    "window": {
        "workDoneProgress": True,
        "showDocument": {"support": True},
        "showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}},
    },
}


class Session:
    """One server, one editor, and what was found in the end.

    `client` is the captured client whose capabilities the editor declares; without one it can do everything.
    """

    def __init__(self, seed, operations, *, real=False, client=""):
        self.seed, self.operations, self.real = seed, operations, real
        self.declared = captured_capabilities(client) if client else CAPABILITIES
        # Nothing is answered by ALE, and nothing lands where somebody types without a pause and edits have no version.
        self.answers = not client.startswith("ale")
        self.pauses = not find_capability(self.declared, "workspace.workspaceEdit.documentChanges")
        self.done = Counter()
        self.reached, self.last = 0, ""
        self.memory = []

    async def run(self):
        """Raises `Broken`; returns a report."""
        with tempfile.TemporaryDirectory(prefix="greenloop-chaos-") as folder:
            self.folder = Path(folder)
            root = self.folder / "w s#ü"
            began = time.monotonic()
            process = await self._spawn()
            editor = self.editor = Editor(process, root, random.Random(f"{self.seed} manners"))
            try:
                await self._begin(root)
                for index in range(self.operations):
                    await self._operate(index)
                await self._end()
            except (TimeoutError, asyncio.CancelledError) as error:
                raise Broken(f"no answer in time ({error!r})") from error
            finally:
                if process.returncode is None:
                    process.kill()
                await process.wait()
                for task in editor.tasks:
                    task.cancel()
            return {"operations": dict(self.done), "seen": dict(editor.counts), "memory": self.memory,
                    "seconds": round(time.monotonic() - began, 1)}  # fmt: skip

    async def _spawn(self):
        pipe = asyncio.subprocess.PIPE
        state = {"XDG_STATE_HOME": str(self.folder / "state"), "XDG_CONFIG_HOME": str(self.folder / "config")}
        return await asyncio.create_subprocess_exec(
            sys.executable, str(HERE / "chaos_server.py"), str(self.seed), *(["--real"] if self.real else []),
            stdin=pipe, stdout=pipe, stderr=pipe, cwd="/", limit=1 << 26,
            env={**os.environ, "PYTHONPATH": str(SERVER), **state},
        )  # fmt: skip

    async def _begin(self, root):
        editor = self.editor
        for folder in (root, self.folder / "other"):
            folder.mkdir()
            for name in ("a", "b", "c"):
                for file in (f"{name}.py", f"test_{name}.py"):
                    path = folder / file
                    path.write_bytes(text_of(file).encode())
                    editor.uri(path)
            (folder / "scratch.py").write_bytes(b"")
            editor.uri(folder / "scratch.py")
            # What plugins this environment has is no part of the question, and slow to import.
            (folder / CONFIGURATION).write_text("[pytest]\naddopts = --disable-plugin-autoload\n")
        editor.disk = {uri: path.read_bytes() for uri, path in editor.files.items()}
        editor.folders = {"w": root.as_uri(), "other": (self.folder / "other").as_uri()}
        options = {"model": "dice:", "editor": {"runs": 4}}
        if self.real:
            options |= {"sandbox.kind": "bubblewrap", "preset": "plain", "attempts": 3, "interpreter": sys.executable}
        editor.declared, editor.answers = self.declared, self.answers
        reply = await editor.call(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": "w"}],
                "capabilities": self.declared,
                "initializationOptions": options,
            },
        )
        editor.capabilities = reply["capabilities"]
        editor.encoding = editor.capabilities.get("positionEncoding", "utf-16")
        editor.commands = editor.capabilities["executeCommandProvider"]["commands"]
        editor.notify("initialized", {})
        for name in ("a.py", "test_a.py", "c.py"):
            editor.show((root / name).as_uri(), editor.read((root / name).as_uri()))

    async def _operate(self, index):
        dice = random.Random(f"{self.seed} {index}")
        name = dice.choices(list(OPERATIONS), [weight for weight, _do in OPERATIONS.values()])[0]
        self.done[name] += 1
        self.reached, self.last = index + 1, name
        await OPERATIONS[name][1](self.editor, dice)
        # The reader gets its turn, and what was written leaves.
        await self.editor.process.stdin.drain()
        await asyncio.sleep(dice.choice((0, 0, 0, 0.001, 0.01)) * (20 if self.real else 1))
        if self.pauses and dice.random() < THINKS:
            await asyncio.sleep(THINKING)
        self._whole()
        if index % SYNC == SYNC - 1:
            state = await self._agree()
            if index + 1 == SETTLED:
                self.memory.append(state["memory"])

    def _whole(self):
        editor = self.editor
        if editor.broken is not None:
            raise Broken(f"{editor.broken}") from editor.broken
        if editor.process.returncode is not None:
            raise Broken(f"the server ended: {''.join(editor.errors)[-2000:]}")

    async def _agree(self):
        """The server's texts are the editor's, and what it shows it has reason to show."""
        editor = self.editor
        texts = {uri: [document.version, digest(document.text)] for uri, document in editor.open.items()}
        rows = {uri: len(LINE.findall(document.text)) + 1 for uri, document in editor.open.items()}
        state = await editor.call("test/state", None, PATIENCE)
        shown = editor.shown
        if state["documents"] != texts:
            uri = next(u for u in {**texts, **state["documents"]} if texts.get(u) != state["documents"].get(u))
            raise Broken(f"the server has another text of {uri}: {state['documents'].get(uri)}, not {texts.get(uri)}")
        for item in state["board"]:
            if not item["there"]:
                raise Broken(f"diagnostics of a file that is gone: {item}")
            if item["stale"]:
                raise Broken(f"a diagnostic of nothing that goes on or is unsolved: {item}")
        beyond = [i for uri, n in rows.items() for i in shown.get(uri, ()) if i["range"]["end"]["line"] >= n]
        if beyond:
            raise Broken(f"diagnostics beyond the end of a file: {beyond}")
        seen = Counter((u, item["message"]) for u, items in shown.items() for item in items)
        held = Counter((item["uri"], item["message"]) for item in state["board"])
        if seen != held:
            raise Broken(f"shown but not held: {seen - held}; held but not shown: {held - seen}")
        written = {uri: path.read_bytes() for uri, path in editor.files.items() if path.is_file()}
        if written != editor.disk:
            raise Broken(f"written by somebody else: {[u for u in written if written[u] != editor.disk.get(u)]}")
        found = {
            path for folder in (editor.root, self.folder / "other") for path in folder.rglob("*") if path.is_file()
        }
        if strange := [path for path in found - {*editor.files.values()} if path.name != CONFIGURATION]:
            raise Broken(f"files that nobody here made: {strange}")
        return state

    async def _end(self):
        editor = self.editor
        deadline = time.monotonic() + PATIENCE
        children = psutil.Process(editor.process.pid).children(recursive=True)
        while True:
            if not self.real or time.monotonic() > deadline - PATIENCE / 2:
                await editor.call("workspace/executeCommand", {"command": "greenloop.cancel", "arguments": []})
            state = await self._agree()
            busy = [run for run in state["runs"] if run[1] != "over"]
            if not busy and not editor.late and not any(state["sizes"].values()):
                break
            if time.monotonic() > deadline:
                raise Broken(f"does not come to rest: {busy}, {state['sizes']}")
            await asyncio.sleep(0.05)
            self._whole()
        self.memory.append(state["memory"])
        self.kept = state["kept"]
        if len(self.memory) == 2 and self.memory[1] - self.memory[0] > GROWTH:
            raise Broken(f"memory grew from {self.memory[0]:.1f} to {self.memory[1]:.1f} MB; kept: {state['kept']}")
        await editor.call("workspace/executeCommand", {"command": "greenloop.discard", "arguments": []})
        for uri in list(editor.open):
            editor.hide(uri)
        state = await self._agree()
        if state["board"] or any(editor.published.values()):
            raise Broken(f"diagnostics are left: {state['board']}")
        children += psutil.Process(editor.process.pid).children(recursive=True)
        await editor.call("shutdown")
        editor.notify("exit")
        async with asyncio.timeout(15):
            if await editor.process.wait() != 0:
                raise Broken(f"the server ended with {editor.process.returncode}")
        await asyncio.gather(*editor.tasks)
        children += [each for each in psutil.process_iter() if self.folder.name in _line(each)]
        _gone, alive = psutil.wait_procs(children, timeout=5)
        if alive:
            raise Broken(f"processes are left: {alive}")
        self._complained()

    def _complained(self):
        """The log has nothing but what was provoked: wrong parameters, and the engine's own crash."""
        errors = [
            line for line in self.editor.errors if re.search(r"^[\w.]+(Error|Exception)\b| ERROR |Warning:", line)
        ]
        if rest := [
            line for line in errors if not re.search("JsonRpcInvalidParams|Unable to deserialize|A run failed", line)
        ]:
            raise Broken(f"the server complained: {rest[:3]}\n{''.join(self.editor.errors)[-3000:]}")


def _line(process):
    """A process's command line, empty for one that has just ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def attempt(seed, operations, **how):
    """The failure of one session, None where all holds; and the session."""
    session = Session(seed, operations, **how)
    try:
        return None, session, asyncio.run(session.run())
    except Broken as error:
        return error, session, None


def shortest(seed, failing, **how):
    """The length of the shortest beginning that was seen to fail, by halving."""
    passing = 0
    while failing - passing > 1:
        middle = (passing + failing) // 2
        if attempt(seed, middle, **how)[0] is None:
            passing = middle
        else:
            failing = middle
    return failing


def replay(seed, operations, *, real=False, client=""):
    """The line that does it again."""
    how = f"{' --real' if real else ''}{f' --client {client}' if client else ''}"
    return f"python -m tests.support.chaos --seed {seed} --operations {operations}{how}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", default="1", help="any text")
    parser.add_argument("--operations", type=int, default=500)
    parser.add_argument("--real", action="store_true", help="the real engine, in bubblewrap")
    parser.add_argument(
        "--client", choices=captured_clients(), default="", help="declare what this one does; else everything"
    )
    parser.add_argument("--no-halving", action="store_true", help="do not look for the shortest failing beginning")
    arguments = parser.parse_args()
    how = {"real": arguments.real, "client": arguments.client}
    error, session, report = attempt(arguments.seed, arguments.operations, **how)
    if error is None:
        print(json.dumps({**report, "kept": session.kept}, indent=1, ensure_ascii=False))
        return 0
    print(f"seed {arguments.seed}, after {session.reached} operations ({session.last}): {error}")
    length = session.reached
    if not arguments.no_halving:
        length = shortest(arguments.seed, length, **how)
    print(f"replay: {replay(arguments.seed, length, **how)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
