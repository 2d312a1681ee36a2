"""What one verification costs, as a ratio to `python -m pytest` on the bare host, interleaved in one run.

    python benchmarks/sandbox.py [--sandbox bubblewrap docker] [--rounds 30] [--interpreter PYTHON] [--heavy]
    python benchmarks/sandbox.py --soak

The project is one test of one function. Host and sandbox use the same interpreter, pytest, plugins and bytecode cache
(none is written on either side). Every figure is a median; ratios are to the host's median of the same round trip.
`--heavy` needs an interpreter with numpy and pandas. `--soak` counts memory, processes and files over 1,000
verifications, random cancels and concurrent sessions.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.core import registry
from greenloop.core.ports import Sandbox, Session
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Environment, Limits, SandboxSpec, TestRun
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status
from greenloop.core.run_state import RunState
from greenloop.core.verdict import judge
from greenloop.project import interpreters
from greenloop.project.settings import Settings, load
from greenloop.sandboxes.backends._warmup import Warmup
from greenloop.verdict.verifier import Verifier

MASKED = (".env*", "*.pem", ".git")
TEST = "from m import double\n\n\ndef test_double():\n    assert double(4) == 8\n"
RIGHT = "def double(n):\n    return 2 * n\n"
WRONG = "def double(n):\n    return n * n\n"
HEAVY = "import numpy\nimport pandas\n\n"
CASE = "test_m.py::test_double"


@dataclass
class Times:
    """Seconds by name of the thing measured."""

    found: dict[str, list[float]] = field(default_factory=dict)

    async def of(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        began = time.perf_counter()
        await work()
        self.found.setdefault(name, []).append(time.perf_counter() - began)

    def median(self, name: str) -> float:
        return statistics.median(self.found[name])


def environment(interpreter: str) -> Environment:
    """What greenloop itself makes of an interpreter named in the settings."""
    settings, _warnings = load(None, command_line={"interpreter": interpreter})
    return interpreters.find_environment(Path.cwd(), settings)


def project(root: Path, *, heavy: bool = False, files: int = 0) -> Path:
    """The one-test project; `files` more of them, a hundred to a folder."""
    root.mkdir(parents=True)
    (root / "m.py").write_text(RIGHT, encoding="utf-8")
    (root / "test_m.py").write_text((HEAVY if heavy else "") + TEST, encoding="utf-8")
    for number in range(files):
        folder = root / "data" / f"part{number // 100}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.txt").write_text(str(number), encoding="utf-8")
    return root


async def host(place: SandboxSpec) -> None:
    """`python -m pytest` as a user would run it for this one test."""
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = await asyncio.create_subprocess_exec(
        str(place.environment.executable), "-m", "pytest", "-q", "-p", "no:cacheprovider", CASE,
        cwd=place.root, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert await process.wait() in (0, 1)


async def checked(session: Session, source: str, *, status: Status, seed: int = 0) -> None:
    """One verification as the loop does it, and that its verdict is right."""
    run = TestRun(selectors=(CASE,), files={"m.py": source.encode()}, seconds=20.0, hash_seed=seed)
    execution = await session.run(run)
    assert not execution.broken, execution.broken
    assert judge([CASE], {CASE: "passed"}, execution).status is status, execution


async def learnt(session: Session) -> None:
    """The user's own code, as a calibration runs it; what a back end learns from it is learnt when this returns."""
    for _ in range(2):
        await session.run(TestRun(selectors=(CASE,), seconds=20.0, baseline=True))
        if (learning := getattr(session, "_learning", None)) is not None:
            await learning


async def measure(kind: str, place: SandboxSpec, rounds: int) -> Times:
    """Host and sandbox in turn: passing and failing runs, warm and with the plain fork, cold sessions, acceptance.

    The accepting back end is the one whose sessions have learnt, as in a real run; a cold session knows nothing.
    """
    times = Times()
    knowing, ignorant = back_end(kind), back_end(kind)
    warm, plain = await knowing.open(place), await ignorant.open(place)
    try:
        await learnt(warm)
        await learnt(plain)
        for known in _warmups(ignorant):  # the packages it may keep, the open session it may not
            known.session_allowed = False
            known.agreed_selectors.clear()
        await checked(plain, RIGHT, status=Status.PASSED)
        for _ in range(rounds):
            await times.of("host, passing", lambda: host(place))
            await times.of("passing", lambda: checked(warm, RIGHT, status=Status.PASSED))
            await times.of("failing", lambda: checked(warm, WRONG, status=Status.FAILED))
            await times.of("plain fork, passing", lambda: checked(plain, RIGHT, status=Status.PASSED))
            await times.of("plain fork, failing", lambda: checked(plain, WRONG, status=Status.FAILED))
        for _ in range(max(3, rounds // 3)):
            await times.of("host, passing", lambda: host(place))
            await _cold(kind, place, times)
            await times.of("full acceptance", lambda: accepted(knowing, place))
    finally:
        await asyncio.gather(warm.close(), plain.close())
    return times


def _warmups(sandbox: Sandbox) -> list[Warmup]:
    found = getattr(sandbox, "_warmups", None) or getattr(sandbox, "warmups", {})
    return list(found.values())


def back_end(kind: str) -> Sandbox:
    found: Sandbox = registry.load_part("sandboxes", kind).create(Settings())
    return found


async def _cold(kind: str, place: SandboxSpec, times: Times) -> None:
    sessions: list[Session] = []

    async def first() -> None:
        sessions.append(await back_end(kind).open(place))
        await checked(sessions[0], RIGHT, status=Status.PASSED)

    await times.of("cold session to first result", first)
    await sessions[0].close()


async def accepted(sandbox: Sandbox, place: SandboxSpec) -> None:
    text = (place.root / "test_m.py").read_text(encoding="utf-8")
    case = Case(id=CASE, path="test_m.py", line=text.count("\n") - 1)
    problem = Problem(
        root=place.root,
        spec=Spec(cases=(case,), selectors=(CASE,)),
        regions=(Region(path="m.py", qualname="double", start=1, end=2),),
        originals={"m.py": WRONG},
        files={"m.py": WRONG, "test_m.py": text},
    )
    state = RunState(problem=problem, outcomes={CASE: "failed"}, limits=place.limits)
    verifier = Verifier(
        state=state,
        open_session=lambda: sandbox.open(place),
        suite_seconds=20.0,
        encode=lambda texts: {path: source.encode() for path, source in texts.items()},
    )
    verdict = await verifier.accept({"m.py": RIGHT})
    assert verdict.status is Status.PASSED, verdict
    assert state.evidence.canaried == 1, state.evidence


def show(title: str, times: Times) -> None:
    base = times.median("host, passing")
    print(f"\n{title}\n\n| what | median ms | ratio to host pytest |\n|---|---|---|")
    for name in times.found:
        print(f"| {name} | {1000 * times.median(name):.1f} | {times.median(name) / base:.3f} |", flush=True)


# -- what takes long --------------------------------------------------------------------------------------------


async def soak(kinds: list[str], interpreter: str, folder: Path) -> None:
    """Memory over 1,000 verifications, 10 sessions at once, 200 cancels; for each back end."""
    env = environment(interpreter)
    for kind in kinds:
        place = SandboxSpec(root=project(folder / f"soak-{kind}"), environment=env, masked=MASKED)
        sandbox = back_end(kind)
        found = {
            **await _thousand(sandbox, place),
            **await _at_once(sandbox, place),
            **await _cancels(sandbox, place),
        }
        print(f"\n{kind}\n\n| what | seen |\n|---|---|")
        for name, value in found.items():
            print(f"| {name} | {value} |", flush=True)


async def _thousand(sandbox: Sandbox, place: SandboxSpec) -> dict[str, str]:
    session = await sandbox.open(place)
    await learnt(session)
    for _ in range(50):  # what is allocated once is allocated now
        await checked(session, RIGHT, status=Status.PASSED)
    gc.collect()
    files, before = _files(), _memory()
    processes = len(_tree(os.getpid()))
    for number in range(1000):
        right = number % 2 == 0
        await checked(session, RIGHT if right else WRONG, status=Status.PASSED if right else Status.FAILED)
    gc.collect()
    grown, more = _memory() - before, len(_tree(os.getpid())) - processes
    await session.close()
    return {
        "memory after 1,000 verifications": f"{grown / 2**20:+.1f} MiB",
        "processes more, open files more": f"{more}, {_files() - files}",
        "processes left after the close": str(len(_tree(os.getpid()))),
    }


async def _at_once(sandbox: Sandbox, place: SandboxSpec) -> dict[str, str]:
    async def one() -> float:
        began = time.perf_counter()
        session = await sandbox.open(place)
        try:
            for _ in range(5):
                await checked(session, RIGHT, status=Status.PASSED)
        finally:
            await session.close()
        return time.perf_counter() - began

    async with asyncio.timeout(300):
        seconds = sorted(await asyncio.gather(*(one() for _ in range(10))))
    ratio = seconds[-1] / statistics.median(seconds)
    return {"10 sessions at once: slowest / median": f"{ratio:.2f} ({seconds[-1]:.1f} s)"}


async def _cancels(sandbox: Sandbox, place: SandboxSpec) -> dict[str, str]:
    """Cancels at random moments from boot to report, of candidates that end and of some that do not."""
    random.seed(7)
    back, dead = [], []
    mounts, folder = _mounts(), _temporary()
    session = await sandbox.open(place)
    loops = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'while 1: pass'])\nwhile 1: pass\n"
    for number in range(200):
        source = loops if number % 2 else RIGHT
        run = TestRun(selectors=(CASE,), files={"m.py": source.encode()}, seconds=20.0)
        task = asyncio.ensure_future(session.run(run))
        await asyncio.wait([task], timeout=random.uniform(0.0, 0.6))
        began = time.perf_counter()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        back.append(time.perf_counter() - began)
        while _loops():
            await asyncio.sleep(0.01)
            assert time.perf_counter() - began < 30, "the candidate's tree lives on"
        dead.append(time.perf_counter() - began)
    await session.close()
    left = sorted(_temporary() - folder)
    return {
        "200 cancels: control back, worst": f"{max(back):.2f} s",
        "200 cancels: tree dead, worst": f"{max(dead):.2f} s",
        "mounts more, temporary files left": f"{_mounts() - mounts}, {left}",
        "processes left": str(len(_tree(os.getpid()))),
    }


def _tree(pid: int) -> list[int]:
    found = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            for child in (thread / "children").read_text().split():
                found += [int(child), *_tree(int(child))]
    return found


def _loops() -> list[str]:
    """Processes anywhere on this machine that run the cancelled candidates' loop."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if b"while 1: pass" in path.read_bytes():
                found.append(path.parent.name)
    return found


def _memory() -> int:
    """Resident bytes of this process and all below it."""
    total = 0
    for pid in (os.getpid(), *_tree(os.getpid())):
        with contextlib.suppress(OSError):
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    return total


def _files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _temporary() -> set[str]:
    return {path.name for path in Path(tempfile.gettempdir()).iterdir()}


def _mounts() -> int:
    return len(Path("/proc/self/mounts").read_text().splitlines())


async def compare(arguments: argparse.Namespace, folder: Path) -> None:
    env = environment(arguments.interpreter)
    shapes: list[tuple[str, bool, int]] = [("one test", False, 0)]
    if arguments.heavy:
        shapes.append(("numpy and pandas", True, 0))
    if arguments.files:
        shapes.append((f"{arguments.files} files", False, arguments.files))
    for kind in arguments.sandbox:
        for title, heavy, files in shapes:
            root = project(folder / f"{kind}-{title.replace(' ', '-')}", heavy=heavy, files=files)
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
