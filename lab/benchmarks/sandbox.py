"""Measures one verification, as a ratio to `python -m pytest` on the bare host, interleaved in one run.

    python lab/benchmarks/sandbox.py [--sandbox bubblewrap docker] [--rounds 30] [--interpreter PYTHON] [--heavy]
    python lab/benchmarks/sandbox.py --soak

The project is one test of one function. Host and sandbox use the same interpreter, pytest, plugins and bytecode cache
(none is written on either side). Every figure is a median; ratios are to the host's median of the same round trip.
`--heavy` needs an interpreter with numpy and pandas. `--soak` counts memory, processes and files over 1,000
verifications, random cancels and concurrent sessions.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from sandbox_project import (
    CASE,
    MASKED,
    RIGHT,
    WRONG,
    create_back_end,
    find_environment,
    let_learn,
    make_project,
    verify_once,
)
from sandbox_soak import soak

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status
from greenloop.core.run_state import RunState
from greenloop.verdict.beyond_tests.checks import BeyondTests
from greenloop.verdict.verifier import Verifier
from greenloop_sandbox import Limits, Sandbox, SandboxSpec, Session
from greenloop_sandbox.backends._warmup import Warmup


@dataclass
class Times:
    """Seconds by name of the thing measured."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    async def measure(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        started = time.perf_counter()
        await work()
        self.seconds.setdefault(name, []).append(time.perf_counter() - started)

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])


async def run_on_host(place: SandboxSpec, *more: str) -> None:
    """`python -m pytest` as a user would run it for this one test, and for more of them."""
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = await asyncio.create_subprocess_exec(
        str(place.environment.executable), "-m", "pytest", "-q", "-p", "no:cacheprovider", CASE, *more,
        cwd=place.root, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert await process.wait() in (0, 1)


async def measure(kind: str, place: SandboxSpec, rounds: int) -> Times:
    """Host and sandbox in turn: passing and failing runs, warm and with the plain fork, cold sessions, acceptance.

    The accepting back end is the one whose sessions have learnt, as in a real run; a cold session knows nothing.
    """
    times = Times()
    trained, untrained = create_back_end(kind), create_back_end(kind)
    warm, plain = await trained.open(place), await untrained.open(place)
    try:
        await let_learn(warm)
        await let_learn(plain)
        for warmup in _warmups(untrained):  # the packages it may keep, the open session it may not
            warmup.session_allowed = False
            warmup.agreed_selectors.clear()
        await verify_once(plain, RIGHT, status=Status.PASSED)
        for _ in range(rounds):
            await times.measure("host, passing", lambda: run_on_host(place))
            await times.measure("passing", lambda: verify_once(warm, RIGHT, status=Status.PASSED))
            await times.measure("failing", lambda: verify_once(warm, WRONG, status=Status.FAILED))
            await times.measure("plain fork, passing", lambda: verify_once(plain, RIGHT, status=Status.PASSED))
            await times.measure("plain fork, failing", lambda: verify_once(plain, WRONG, status=Status.FAILED))
        for _ in range(max(3, rounds // 3)):
            await times.measure("host, passing", lambda: run_on_host(place))
            await _measure_cold_session(kind, place, times)
            await times.measure("full acceptance", lambda: accept(trained, place))
    finally:
        await asyncio.gather(warm.close(), plain.close())
    return times


def _warmups(sandbox: Sandbox) -> list[Warmup]:
    found = getattr(sandbox, "_warmups", None) or getattr(sandbox, "warmups", {})
    return list(found.values())


async def _measure_cold_session(kind: str, place: SandboxSpec, times: Times) -> None:
    sessions: list[Session] = []

    async def first() -> None:
        sessions.append(await create_back_end(kind).open(place))
        await verify_once(sessions[0], RIGHT, status=Status.PASSED)

    await times.measure("cold session to first result", first)
    await sessions[0].close()


async def accept(sandbox: Sandbox, place: SandboxSpec, related: int = 0, beyond: BeyondTests | None = None) -> None:
    neighbours = tuple(f"test_related.py::test_{number}" for number in range(related))
    text = (place.root / "test_m.py").read_text(encoding="utf-8")
    case = Case(id=CASE, path="test_m.py", line=text.count("\n") - 1)
    problem = Problem(
        root=place.root,
        spec=Spec(cases=(case,), selectors=(CASE,)),
        regions=(Region(path="m.py", qualname="double", start=1, end=2),),
        originals={"m.py": WRONG},
        files={"m.py": WRONG, "test_m.py": text},
        neighbours=neighbours,
    )
    outcomes = {CASE: "failed", **dict.fromkeys(neighbours, "passed")}
    state = RunState(problem=problem, outcomes=outcomes, limits=place.limits)
    verifier = Verifier(
        state=state,
        open_session=lambda: sandbox.open(place),
        suite_seconds=20.0,
        encode=lambda texts: {path: source.encode() for path, source in texts.items()},
        beyond=beyond,
    )
    verdict = await verifier.accept({"m.py": RIGHT})
    assert verdict.status is Status.PASSED, verdict
    assert CASE in state.evidence.proofs, state.evidence
    assert state.evidence.neighbours_unchanged == related, state.evidence


def show(title: str, times: Times) -> None:
    base = times.median("host, passing")
    print(f"\n{title}\n\n| what | median ms | ratio to host pytest |\n|---|---|---|")
    for name in times.seconds:
        print(f"| {name} | {1000 * times.median(name):.1f} | {times.median(name) / base:.3f} |", flush=True)


async def compare(arguments: argparse.Namespace, folder: Path) -> None:
    env = find_environment(arguments.interpreter)
    shapes: list[tuple[str, bool, int]] = [("one test", False, 0)]
    if arguments.heavy:
        shapes.append(("numpy and pandas", True, 0))
    if arguments.files:
        shapes.append((f"{arguments.files} files", False, arguments.files))
    for kind in arguments.sandbox:
        for title, heavy, files in shapes:
            root = make_project(folder / f"{kind}-{title.replace(' ', '-')}", heavy=heavy, files=files)
            place = SandboxSpec(root=root, environment=env, masked=MASKED, limits=Limits(seconds=20))
            show(f"{kind}, {title}", await measure(kind, place, arguments.rounds))


def main(arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="greenloop-bench-") as name:
        Path(name).chmod(0o755)
        if arguments.soak:
            asyncio.run(soak(arguments.sandbox, arguments.interpreter, Path(name)))
        else:
            asyncio.run(compare(arguments, Path(name)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sandbox", nargs="+", default=["bubblewrap"])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--interpreter", default=sys.executable)
    parser.add_argument("--heavy", action="store_true")
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--soak", action="store_true")
    main(parser.parse_args())
