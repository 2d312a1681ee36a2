#!/usr/bin/env python3
"""A stand-in for a model of which samples were recorded: an OpenAI-compatible server that answers with these.

Run: python lab/benchmarks/recorded_server.py ROWS.jsonl --mbpp FILE [--slots 16] [--port 8765]

ROWS are results of `greenloop bench` with one arm that draws many samples, such as `best-of-n`.
A request at temperature 0 gets the recorded greedy answer of its MBPP task, any other one the next recorded sample of
the nearest temperature that was not given yet; when all were given, one of them at random, by the request's seed.
So it is as good as the recorded model while the recorded samples last, whatever else the prompt says, and shows nothing
about prompts. A task's samples end with the round in which one passed.
`/props` names the slots, as llama.cpp's server does. Each run of a task needs a server that was started anew.
"""

from __future__ import annotations

import argparse
import json
import random
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from greenloop_lab.bench import mbpp

Sample = Mapping[str, Any]  # a row of an attempt


@dataclass
class Samples:
    """The recorded samples of each task; owns which were given."""

    greedy: dict[str, Sample]
    others: dict[str, list[Sample]]
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    left: dict[str, list[Sample]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, task: str, temperature: float, seed: int) -> Sample:
        with self.lock:
            if not temperature or task not in self.others:
                self.counts["greedy"] += 1
                return self.greedy[task]
            left = self.left.setdefault(task, list(self.others[task]))
            self.counts["sampled" if left else "drawn again"] += 1
            if not left:
                return random.Random(seed).choice(self.others[task])
            nearest = min(left, key=lambda sample: (abs(sample["temperature"] - temperature), sample["number"]))
            left.remove(nearest)
            return nearest


def read_samples(path: Path) -> Samples:
    greedy, others = {}, defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["kind"] == "attempt" and row["number"]:
            if row["temperature"]:
                others[row["task"]].append(row)
            else:
                greedy[row["task"]] = row
    return Samples(greedy=greedy, others=dict(others))


def find_task(prompt: str, stubs: Mapping[str, str]) -> str:
    """The task whose signature and docstring are in the prompt."""
    words = squeeze(prompt)
    return next((task for task, stub in stubs.items() if stub in words), "")


def read_stubs(path: Path) -> dict[str, str]:
    stubs = {f"mbpp-{row.number}": mbpp.stub_module(row) for row in mbpp.load(path)}
    return {task: squeeze(text[text.rindex("def ") : text.rindex("raise")]) for task, text in stubs.items()}


def squeeze(text: str) -> str:
    return " ".join(text.split())


def make_events(sample: Sample) -> Iterator[bytes]:
    usage = {name: sample[name] for name in ("prompt_tokens", "completion_tokens")}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "recorded"}
    content = {"role": "assistant", "content": sample["answer"]}
    for choices, more in (
        ([{"index": 0, "delta": content, "finish_reason": None}], {}),
        ([{"index": 0, "delta": {}, "finish_reason": "stop"}], {}),
        ([], {"usage": usage | {"total_tokens": sum(usage.values())}}),
    ):
        yield b"data: " + json.dumps({**chunk, "choices": choices, **more}).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def make_handler(samples: Samples, stubs: Mapping[str, str], slots: int) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = slots and self.path == "/props"
            self.reply(200 if known else 404, "application/json", [json.dumps({"total_slots": slots}).encode()])

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            task = find_task("\n".join(message["content"] for message in request["messages"]), stubs)
            if task not in samples.greedy:
                self.reply(
                    400, "application/json", [b'{"error": {"message": "No answer was recorded for this task."}}']
                )
                return
            sample = samples.take(task, request["temperature"], request.get("seed", 0))
            self.reply(200, "text/event-stream", make_events(sample))

        def reply(self, status: int, kind: str, parts: Sequence[bytes] | Iterator[bytes]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.end_headers()
            for part in parts:
                self.wfile.write(part)

        def log_message(self, *_arguments: Any) -> None:
            """Says nothing."""

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, help="results of greenloop bench, one arm with many samples")
    parser.add_argument("--mbpp", type=Path, required=True, help="the file of MBPP, mbpp.jsonl")
    parser.add_argument("--slots", type=int, default=0, help="what /props says (default: there is no such page)")
    parser.add_argument("--port", type=int, default=8765)
    arguments = parser.parse_args()
    samples = read_samples(arguments.rows)
    handler = make_handler(samples, read_stubs(arguments.mbpp), arguments.slots)
    with ThreadingHTTPServer(("127.0.0.1", arguments.port), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/v1: {len(samples.greedy)} tasks", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(", ".join(f"{number} {name}" for name, number in sorted(samples.counts.items())))


if __name__ == "__main__":
    main()
