#!/usr/bin/env python3
"""Measures a save until its diagnostic, as a ratio to `python -m pytest` of the affected test file, interleaved.

    python lab/benchmarks/save.py [--rounds 30] [--interpreter PYTHON] [--pause 2.0] [--modules 20] [--limit 0.5]

The real server over stdio with bubblewrap; every save changes the code, in turn so that a test fails and so that it
passes. Host and sandbox use the same interpreter and pytest. The limit is for saves after a pause; those in a
hurry follow another one at once, whose check they cancel. Exits 1 where the ratio of the medians is above the limit.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "server"
TESTS = "from m import double\n\n\n" + "\n\n".join(
    f"def test_double_{n}():\n    assert double({n}) == {2 * n}\n" for n in range(1, 6)
)


class Client:
    """Sends, and reads one message after another."""

    def __init__(self, root: Path, environment: dict[str, str]) -> None:
        command = [sys.executable, "-m", "greenloop", "serve"]
        self.root, self.version, self.ids = root, 1, 0
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def send(self, **message: object) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.server.stdin
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def read(self) -> dict:
        assert self.server.stdout
        size = 0
        while (line := self.server.stdout.readline()) != b"\r\n":
            if not line:
                raise SystemExit("the server ended")
            if line.startswith(b"Content-Length"):
                size = int(line.split(b":")[1])
        return json.loads(self.server.stdout.read(size))

    def call(self, method: str, params: object) -> None:
        self.ids += 1
        self.send(id=self.ids, method=method, params=params)
        while self.read().get("id") != self.ids:
            pass

    def start(self, interpreter: str) -> None:
        options = {"interpreter": interpreter, "sandbox.kind": "bubblewrap", "editor.save": "affected"}
        params = {
            "processId": None,
            "rootUri": self.root.as_uri(),
            "capabilities": {},
            "initializationOptions": options,
        }
        self.call("initialize", params)
        self.send(method="initialized", params={})
        for name in ("m.py", "test_m.py"):
            text = (self.root / name).read_text()
            item = {"uri": (self.root / name).as_uri(), "languageId": "python", "version": 1, "text": text}
            self.send(method="textDocument/didOpen", params={"textDocument": item})

    def save(self, text: str) -> None:
        """Types and saves."""
        self.version += 1
        document = {"uri": (self.root / "m.py").as_uri(), "version": self.version}
        params = {"textDocument": document, "contentChanges": [{"text": text}]}
        self.send(method="textDocument/didChange", params=params)
        (self.root / "m.py").write_text(text)
        self.send(method="textDocument/didSave", params={"textDocument": {"uri": document["uri"]}})

    def seconds_until(self, condition: Callable[[list[dict]], bool]) -> float:
        """Seconds until the test file's diagnostics are such."""
        began, uri = time.perf_counter(), (self.root / "test_m.py").as_uri()
        while True:
            message = self.read()
            if message.get("method") != "textDocument/publishDiagnostics" or message["params"]["uri"] != uri:
                continue
            if condition(message["params"]["diagnostics"]):
                return time.perf_counter() - began


def module_text(offset: int) -> str:
    """The module; correct when the offset is 0."""
    return f"def double(x):\n    return x * 2 + {offset}\n"


def make_condition(offset: int) -> Callable[[list[dict]], bool]:
    return lambda items: any(f"assert {2 + offset} == 2" in item["message"] for item in items) if offset else not items


def project(root: Path, modules: int) -> None:
    (root / "m.py").write_text(module_text(0))
    (root / "test_m.py").write_text(TESTS)
    for n in range(modules):
        (root / f"other{n}.py").write_text(f"def f{n}(x):\n    return x + {n}\n" * 50)
        (root / f"test_other{n}.py").write_text(
            f"from other{n} import f{n}\n\n\ndef test_f():\n    assert f{n}(0) == {n}\n"
        )


def measure(arguments: argparse.Namespace, folder: Path) -> dict[str, list[float]]:
    root = folder / "project"
    root.mkdir()
    project(root, arguments.modules)
    states = {"XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/config"}
    client = Client(root, {**os.environ, "PYTHONPATH": str(SOURCES), **states})
    host = [arguments.interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_m.py"]
    seconds_by_kind: dict[str, list[float]] = {"pytest": [], "save": [], "save in a hurry": []}
    try:
        client.start(arguments.interpreter)
        client.save(module_text(1))
        seconds_by_kind["first save"] = [client.seconds_until(make_condition(1))]
        for number in range(2, arguments.rounds + 2):
            offset = number if number % 2 else 0
            time.sleep(arguments.pause)
            client.save(module_text(offset))
            seconds_by_kind["save"].append(client.seconds_until(make_condition(offset)))
            began = time.perf_counter()
            subprocess.run(
                host,
                cwd=root,
                stdout=subprocess.DEVNULL,
                check=False,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )
            seconds_by_kind["pytest"].append(time.perf_counter() - began)
            if number % 4 == 1:
                time.sleep(arguments.pause)
                client.save(module_text(1000 + number))
                time.sleep(0.1)
                client.save(module_text(2000 + number))
                seconds_by_kind["save in a hurry"].append(client.seconds_until(make_condition(2000 + number)))
    finally:
        client.server.kill()
        client.server.wait()
    return seconds_by_kind


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--interpreter", default=sys.executable)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two saves")
    parser.add_argument("--modules", type=int, default=20, help="modules and test files beside the affected ones")
    parser.add_argument("--limit", type=float, default=0.5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds_by_kind = measure(arguments, Path(folder))
    host = statistics.median(seconds_by_kind["pytest"])
    for name, seconds in seconds_by_kind.items():
        p50, p95 = statistics.median(seconds), statistics.quantiles([*seconds, *seconds], n=20)[-1]
        print(
            f"{name:16} n={len(seconds):3}  p50 {p50 * 1000:7.1f} ms  p95 {p95 * 1000:7.1f} ms  ratio {p50 / host:.2f}"
        )
    return int(statistics.median(seconds_by_kind["save"]) / host > arguments.limit)


if __name__ == "__main__":
    sys.exit(main())
