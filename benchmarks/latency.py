#!/usr/bin/env python3
"""Code action and hover while a run is under way: scripted model, real sandbox, a large file with a syntax error.

Prints p50 and p95 in milliseconds; exits 1 where a p95 is above the limit (default 10 ms).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "server"
ANSWERS = 5
TEST = "from m import double\n\n\ndef test_double():\n    sum(range(20_000_000))\n    assert double(5) == 10\n"


class Client:
    """Sends and reads one message after another; what is not asked for is counted as running progress."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        self.ids = self.messages = 0

    def send(self, **message: object) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.server.stdin
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def read(self) -> dict[str, object]:
        assert self.server.stdout
        size = 0
        while (line := self.server.stdout.readline()) != b"\r\n":
            if not line:
                raise SystemExit("the server ended")
            if line.startswith(b"Content-Length"):
                size = int(line.split(b":")[1])
        message: dict[str, object] = json.loads(self.server.stdout.read(size))
        # The second message tells the end; the first said that a run begins.
        self.messages += message.get("method") == "window/showMessage"
        return message

    def call(self, method: str, params: object) -> float:
        """Seconds until the reply."""
        self.ids += 1
        began = time.perf_counter()
        self.send(id=self.ids, method=method, params=params)
        while True:
            message = self.read()
            if message.get("id") == self.ids and "method" not in message:
                return time.perf_counter() - began


def project(root: Path, functions: int) -> dict[str, str]:
    filler = "".join(f"\n\ndef f{n}(x):\n    return x + {n}\n" for n in range(functions))
    texts = {"m.py": "def double(x):\n    return x + 1\n", "test_m.py": TEST, "big.py": filler + "\n\ndef broken(:\n"}
    for name, text in texts.items():
        (root / name).write_text(text)
    answers = [f"```python\ndef double(x):\n    return x + {n}\n```" for n in range(6, 6 + ANSWERS)]
    (root / "answers").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    return texts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=500)
    parser.add_argument("--limit", type=float, default=10.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        texts = project(root, arguments.functions)
        state = {"XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/config"}
        command = [sys.executable, "-m", "greenloop", "serve"]
        client = Client(command, {**os.environ, "PYTHONPATH": str(SOURCES), **state})
        options = {"model": f"scripted:{root / 'answers'}", "preset": "plain", "sandbox.seconds": 30.0}
        params = {"processId": None, "rootUri": root.as_uri(), "capabilities": {}, "initializationOptions": options}
        client.call("initialize", params)
        client.send(method="initialized", params={})
        for name, text in texts.items():
            item = {"uri": (root / name).as_uri(), "languageId": "python", "version": 1, "text": text}
            client.send(method="textDocument/didOpen", params={"textDocument": item})
        found = measure(client, root, arguments.functions)
        client.server.kill()
        client.server.wait()
    worst = 0.0
    for name, seconds in found.items():
        p95 = statistics.quantiles(seconds, n=20)[-1] * 1000
        worst = max(worst, p95)
        print(f"{name:22} n={len(seconds):5} p50 {statistics.median(seconds) * 1000:6.2f} ms  p95 {p95:6.2f} ms")
    return int(worst > arguments.limit)


def measure(client: Client, root: Path, functions: int) -> dict[str, list[float]]:
    refine = {"uri": (root / "test_m.py").as_uri(), "position": {"line": 3, "character": 6}}
    client.call("workspace/executeCommand", {"command": "greenloop.refine", "arguments": [refine]})
    found: dict[str, list[float]] = {"code action": [], "code action, big file": [], "hover": []}
    row = 2 + 4 * (functions // 2)
    while client.messages < 2:
        for name, file, line in (("code action", "test_m.py", 3), ("code action, big file", "big.py", row)):
            here = {"line": line, "character": 5}
            context = {"diagnostics": []}
            document = {"uri": (root / file).as_uri()}
            params = {"textDocument": document, "range": {"start": here, "end": here}, "context": context}
            found[name].append(client.call("textDocument/codeAction", params))
        position = {"line": 0, "character": 5}
        document = {"uri": (root / "m.py").as_uri()}
        found["hover"].append(client.call("textDocument/hover", {"textDocument": document, "position": position}))
        time.sleep(0.02)
    return found


if __name__ == "__main__":
    sys.exit(main())
