"""Compares what makes the embedded model fast: pairs of servers that get the same requests in turn.

`python lab/benchmarks/model.py [--pairs 5] [--only WORD]` prints one table for lab/docs/evidence.md, and each
measurement on stderr. It needs the weights, the engine, and a machine that does nothing else; each server has a state
folder of its own, which does not outlive the run.
A ratio is the median over pairs of right / left: below 1, the right one is faster. On a machine that has other work the
processor's seconds say more than the clock's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import monotonic, sleep
from typing import Any

import psutil

from greenloop.core.records.model import ChatRequest, InfillRequest, Message
from greenloop.models.chat.completions import open_client
from greenloop.plugins.embedded import catalogue, client, hardware, server, weights
from greenloop.plugins.embedded.providers import local

CONTEXT = 4096
CODE = (Path(__file__).parent / "model_code.txt").read_text(encoding="utf-8")
LINES = CODE.splitlines(keepends=True)
# Lines to fill, in the order a spectrum might give: never simply downwards.
INFILL_LINES = (25, 21, 29, 19, 23, 28, 26, 22)


@dataclass
class Cost:
    """The cost of one way: seconds, processor seconds, tokens read, tokens written."""

    seconds: float = 0.0
    cpu: float = 0.0
    read: int = 0
    written: int = 0


@dataclass(frozen=True)
class Server:
    running: server.RunningServer
    process: psutil.Process

    async def ask(self, path: str, body: dict[str, Any], cost: Cost) -> str:
        parts, timings = [], dict[str, Any]()
        async with open_client(is_local=True) as http:
            async for event in client.events(http, self.running, path, body, 300.0):
                parts.append(local.parse_event(event)[0])
                timings = event.get("timings") or timings
        cost.read += timings["prompt_n"]
        cost.written += timings["predicted_n"]
        return "".join(parts)


Way = Callable[[Server, str, Cost], Awaitable[None]]


@dataclass(frozen=True)
class Pair:
    """Two ways of doing the same; `options` differ from the usual ones."""

    title: str
    left: tuple[str, dict[str, Any], Way]
    right: tuple[str, dict[str, Any], Way]


def chat_body(tag: str, question: str, *, tokens: int = 40, temperature: float = 0.0, seed: int = 0) -> dict[str, Any]:
    """`tag` stands first, so that nothing is left of earlier prompts."""
    messages = (
        Message(role="system", content=f"You write Python. {tag}"),
        Message(role="user", content=f"```python\n{CODE}```\n{question}"),
    )
    return local.chat_body(ChatRequest(messages=messages, max_tokens=tokens, temperature=temperature, seed=seed))


def infill_body(tag: str, number: int) -> dict[str, Any]:
    prefix = f"# {tag}\n" + "".join(LINES[:number])
    return local.infill_body(
        InfillRequest(prefix=prefix, suffix="".join(LINES[number + 1 :]), max_tokens=32, stop=("\n",)),
        catalogue.find(catalogue.DEFAULT),
    )


CHAT_PATH, INFILL_PATH = "/v1/chat/completions", "/completion"
SAMPLE = "Write a function that merges any number of sorted lists."


async def samples_in_turn(target: Server, tag: str, cost: Cost) -> None:
    for seed in range(4):
        await target.ask(CHAT_PATH, chat_body(tag, SAMPLE, temperature=0.8, seed=seed), cost)


async def samples_at_once(target: Server, tag: str, cost: Cost) -> None:
    bodies = [chat_body(tag, SAMPLE, temperature=0.8, seed=seed) for seed in range(4)]
    await asyncio.gather(*(target.ask(CHAT_PATH, body, cost) for body in bodies))


async def short_samples(target: Server, tag: str, cost: Cost) -> None:
    """Writing alone: hardly anything is read."""
    bodies = [chat_body(tag, SAMPLE, temperature=0.8, seed=seed) for seed in range(4)]
    for body in bodies:
        body["messages"] = [{"role": "user", "content": f"{tag}: write a Python class for a bank account."}]
    if target.running.slots > 1:
        await asyncio.gather(*(target.ask(CHAT_PATH, body, cost) for body in bodies))
        return
    for body in bodies:
        await target.ask(CHAT_PATH, body, cost)


async def repair(target: Server, tag: str, cost: Cost) -> None:
    question = "`merge` must leave out doubles. Answer with the whole code in one fence, changed where it must be."
    await target.ask(CHAT_PATH, chat_body(tag, question, tokens=220), cost)


async def infills_in_turn(target: Server, tag: str, cost: Cost) -> None:
    for number in INFILL_LINES:
        await target.ask(INFILL_PATH, infill_body(tag, number), cost)


async def infills_at_once(target: Server, tag: str, cost: Cost) -> None:
    for first in range(0, len(INFILL_LINES), 4):
        await asyncio.gather(
            *(target.ask(INFILL_PATH, infill_body(tag, number), cost) for number in INFILL_LINES[first : first + 4])
        )


def second_attempt(*, cached: bool) -> Way:
    async def way(target: Server, tag: str, cost: Cost) -> None:
        """Only the second question counts; its prompt begins as the first one's."""
        await target.ask(CHAT_PATH, chat_body(tag, "Add type hints to `merge`."), Cost())
        body = chat_body(tag, "Add type hints to `merge`. The tests failed: [1, 1] is not [1].", tokens=16)
        await measure(target, target.ask(CHAT_PATH, body | {"cache_prompt": cached}, cost), cost)

    return way


async def alternate_runs(target: Server, tag: str, cost: Cost) -> None:
    """Two runs share the slot; only the return to the first one's prompt counts."""
    for other in ("A", "B"):
        await target.ask(CHAT_PATH, chat_body(f"{other}{tag}", SAMPLE, tokens=4), Cost())
    await measure(target, target.ask(CHAT_PATH, chat_body(f"A{tag}", f"{SAMPLE} Be brief.", tokens=16), cost), cost)


PAIRS = (
    Pair("four samples of one prompt", ("one slot, in turn", {}, samples_in_turn),
         ("four slots, at once", {"slots": 4}, samples_at_once)),
    Pair("four answers, nothing to read", ("one slot, in turn", {}, short_samples),
         ("four slots, at once", {"slots": 4}, short_samples)),
    Pair("eight infills of one function", ("one slot, in turn", {}, infills_in_turn),
         ("four slots, four at once", {"slots": 4}, infills_at_once)),
    Pair("an answer that copies code", ("no speculation", {"speculate": False}, repair), ("n-grams", {}, repair)),
    Pair("four free samples", ("no speculation", {"speculate": False}, samples_in_turn),
         ("n-grams", {}, samples_in_turn)),
    Pair("a second attempt", ("read anew", {}, second_attempt(cached=False)),
         ("cached prefix", {}, second_attempt(cached=True))),
    Pair("two runs that take turns", ("the slot alone", {"cache": 0}, alternate_runs),
         ("prompts in memory", {}, alternate_runs)),
    Pair("priority, idle machine", ("nice 0", {"nice": 0}, repair), ("nice 5", {}, repair)),
    Pair("threads", ("all cores", {}, repair), ("one less", {"threads": max(1, hardware.thread_count() - 1)}, repair)),
)  # fmt: skip


async def measure(target: Server, work: Awaitable[Any], cost: Cost) -> None:
    times, began = target.process.cpu_times(), monotonic()
    before = times.user + times.system
    await work
    times = target.process.cpu_times()
    cost.seconds, cost.cpu = monotonic() - began, times.user + times.system - before


@contextmanager
def run_server(options: dict[str, Any]) -> Any:
    """Runs a server with these options, and ends it afterwards."""
    path = weights.downloaded_file()
    if path is None:
        sys.exit("The weights are not there: run `greenloop model pull`.")
    usual = {"name": catalogue.DEFAULT, "context": CONTEXT, "slots": 1, "threads": hardware.thread_count()}
    usual |= {"gpu_layers": -1, "idle": 600, "nice": 5}
    with tempfile.TemporaryDirectory() as folder:
        environ = {"GOMP_SPINCOUNT": "1000", **os.environ, "XDG_STATE_HOME": folder}
        (Path(folder) / "greenloop").mkdir()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", server.SERVER_MODULE, json.dumps({"model": str(path), **usual, **options})],
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            state = Path(folder) / "greenloop" / "embedded.json"
            while not state.exists():
                if process.poll() is not None:
                    sys.exit("The server ended while loading.")
                sleep(0.1)
            running = server.RunningServer(**json.loads(state.read_text(encoding="utf-8")))
            yield Server(running, psutil.Process(process.pid))
        finally:
            process.terminate()
            process.wait()


async def compare(pair: Pair, pairs: int) -> str:
    """A row of the table."""
    with ExitStack() as stack:
        servers = [stack.enter_context(run_server(options)) for _, options, _ in (pair.left, pair.right)]
        costs: list[list[Cost]] = [[], []]
        for each in servers:
            await each.ask(CHAT_PATH, chat_body("warm up", "Hello.", tokens=4), Cost())
        for number in range(pairs):
            # They take turns in who comes first.
            for side in (0, 1) if number % 2 else (1, 0):
                cost = Cost()
                way = (pair.left, pair.right)[side][2]
                times, began = servers[side].process.cpu_times(), monotonic()
                await way(servers[side], f"{pair.title} {number}", cost)
                after = servers[side].process.cpu_times()
                if not cost.seconds:
                    cost.seconds = monotonic() - began
                    cost.cpu = after.user + after.system - times.user - times.system
                costs[side].append(cost)
                print(f"{pair.title}, pair {number}, {(pair.left, pair.right)[side][0]}: {cost}", file=sys.stderr)
    cells = [_cell((pair.left, pair.right)[side][0], costs[side]) for side in (0, 1)]
    return f"| {pair.title} | {cells[0]} | {cells[1]} | {_ratio(costs, 'seconds')} | {_ratio(costs, 'cpu')} |"


def _ratio(costs: list[list[Cost]], what: str) -> str:
    ratios = sorted(getattr(right, what) / getattr(left, what) for left, right in zip(*costs, strict=True))
    return f"{median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"


def _cell(name: str, costs: list[Cost]) -> str:
    middle = {key: median(getattr(item, key) for item in costs) for key in ("seconds", "cpu", "read", "written")}
    return (
        f"{name}: {middle['seconds']:.1f} s ({middle['cpu']:.1f} s of processor), "
        f"{middle['read']:.0f} read, {middle['written']:.0f} written"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", default="", help="only pairs whose title has this word")
    options = parser.parse_args()
    # The servers are ended with this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(
        "| what | left | right | seconds: ratio (range) | processor: ratio (range) |\n|---|---|---|---|---|", flush=True
    )
    for pair in PAIRS:
        if options.only in pair.title:
            print(asyncio.run(compare(pair, options.pairs)), flush=True)


if __name__ == "__main__":
    main()
