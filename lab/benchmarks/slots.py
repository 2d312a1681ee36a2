#!/usr/bin/env python3
"""A stand-in for a model server with many slots: knows MBPP's answers, and counts the requests that it has at once.

Run: python lab/benchmarks/slots.py --mbpp FILE [--slots 64] [--seconds 2] [--jobs 64] [--sample 64]

Starts an OpenAI-compatible server on the loopback, whose answers take `--seconds` whatever else it does as long as a
slot is free, as a GPU's do, and runs `greenloop bench` against it with one job and with `--jobs`. Prints the wall
seconds, the most requests at once, and whether both runs have the same verdicts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from greenloop_lab.bench import results

_NAME = re.compile(r"def (\w+)\s*\(")


@dataclass
class SlotServer:
    """Answers with the solution of the function that a prompt ends with."""

    solutions: dict[str, str]
    slots: asyncio.Semaphore
    seconds: float
    open: int = 0
    most: int = 0
    requests: int = 0
    tasks: set[asyncio.Task[None] | None] = field(default_factory=set)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(re.search(r"content-length: (\d+)", head)[1])  # type: ignore[index]
                body = json.loads(await reader.readexactly(length))
                async with self.slots:
                    self.open += 1
                    self.requests += 1
                    self.most = max(self.most, self.open)
                    await asyncio.sleep(self.seconds)
                    self.open -= 1
                writer.write(self.reply(body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def reply(self, body: dict[str, object]) -> bytes:
        prompt = json.dumps(body.get("messages", body.get("prompt", "")))
        names = [name for name in _NAME.findall(prompt) if name in self.solutions]
        text = f"```python\n{self.solutions[names[-1]]}\n```" if names else "No."
        common = {"id": "x", "created": 0, "model": "m"}
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4, "total_tokens": 0}
        if body.get("stream"):
            delta = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]}
            end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage}
            kind, common = (
                "text/event-stream",
                {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m"},
            )
            payload = "".join(f"data: {json.dumps(common | part)}\n\n" for part in (delta, end)) + "data: [DONE]\n\n"
        else:
            message = {"role": "assistant", "content": text}
            kind, common = "application/json", common | {"object": "chat.completion"}
            choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
            payload = json.dumps(common | {"choices": choices, "usage": usage})
        data = payload.encode()
        return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


async def run_bench(base: str, arguments: argparse.Namespace, jobs: int, folder: Path) -> tuple[float, list[object]]:
    """Wall seconds of the run, and what it says of each task."""
    out = folder / f"{jobs}.jsonl"
    words = ["bench", f"mbpp:{arguments.mbpp}", "--sample", str(arguments.sample), "--arm", "plain", "--out", str(out)]
    words += ["--model", "openai/stand-in", "--jobs", str(jobs), "--set", f"api.base={base}"]
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "greenloop", *words),
        env={**os.environ, "OPENAI_API_KEY": "none"},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    await process.wait()
    seconds = time.monotonic() - began
    return seconds, sorted((done.run["task"], done.run["right"], done.run["attempts"]) for done in results.read([out]))


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mbpp", type=Path, required=True)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--jobs", type=int, default=64)
    parser.add_argument("--sample", type=int, default=64)
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in arguments.mbpp.read_text(encoding="utf-8").splitlines()]
    solutions = {name: row["code"] for row in rows for name in _NAME.findall(row["code"])}
    server = SlotServer(solutions=solutions, slots=asyncio.Semaphore(arguments.slots), seconds=arguments.seconds)
    listener = await asyncio.start_server(server.handle, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    said = []
    with tempfile.TemporaryDirectory() as name:
        for jobs in (1, arguments.jobs):
            server.most = server.requests = 0
            seconds, rows_of_run = await run_bench(base, arguments, jobs, Path(name))
            said.append(rows_of_run)
            right = sum(bool(row[1]) for row in rows_of_run)
            print(
                f"{jobs:3} at once: {seconds:6.1f} s, {len(rows_of_run)} task-runs, {right} right, "
                f"{server.requests} requests, {server.most} of them at once at most",
                flush=True,
            )
    print("the same verdicts" if said[0] == said[1] else f"other verdicts: {[*zip(*said, strict=False)]}")
    listener.close()


if __name__ == "__main__":
    asyncio.run(main())
