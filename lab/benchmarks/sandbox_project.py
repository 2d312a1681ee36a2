"""The one-test project that the benchmarks of the sandbox run, and its verification as the loop does it."""

from __future__ import annotations

from pathlib import Path

from greenloop.core import registry
from greenloop.core.records.verdict import Status
from greenloop.core.verdict import judge
from greenloop.project.configuration import load
from greenloop.project.environment import interpreters
from greenloop.project.settings import Settings
from greenloop_sandbox import Environment, Sandbox, Session, TestRun

MASKED = (".env*", "*.pem", ".git")
TEST = "from m import double\n\n\ndef test_double():\n    assert double(4) == 8\n"
RIGHT = "def double(n):\n    return 2 * n\n"
WRONG = "def double(n):\n    return n * n\n"
HEAVY = "import numpy\nimport pandas\n\n"
CASE = "test_m.py::test_double"


def find_environment(interpreter: str) -> Environment:
    """What greenloop itself makes of an interpreter named in the settings."""
    settings, _warnings = load(None, command_line={"interpreter": interpreter})
    return interpreters.find_environment(Path.cwd(), settings)


def make_project(root: Path, *, heavy: bool = False, files: int = 0, related: int = 0) -> Path:
    """The one-test project; `files` more of them, a hundred to a folder; so many `related` tests, of either code."""
    root.mkdir(parents=True)
    (root / "m.py").write_text(RIGHT, encoding="utf-8")
    (root / "test_m.py").write_text((HEAVY if heavy else "") + TEST, encoding="utf-8")
    if related:
        tests = "".join(f"\n\ndef test_{number}():\n    assert double(2) == 4\n" for number in range(related))
        (root / "test_related.py").write_text(f"from m import double\n{tests}", encoding="utf-8")
    for number in range(files):
        folder = root / "data" / f"part{number // 100}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.txt").write_text(str(number), encoding="utf-8")
    return root


async def verify_once(session: Session, source: str, *, status: Status, seed: int = 0) -> None:
    """One verification as the loop does it, and that its verdict is right."""
    run = TestRun(selectors=(CASE,), files={"m.py": source.encode()}, seconds=20.0, hash_seed=seed)
    execution = await session.run(run)
    assert not execution.broken, execution.broken
    assert judge([CASE], {CASE: "passed"}, execution).status is status, execution


async def let_learn(session: Session) -> None:
    """The user's own code, as a calibration runs it; what a back end learns from it is learnt when this returns."""
    for _ in range(2):
        await session.run(TestRun(selectors=(CASE,), seconds=20.0, baseline=True))
        if (learning := getattr(session, "_learning", None)) is not None:
            await learning


def create_back_end(kind: str) -> Sandbox:
    found: Sandbox = registry.load_part("sandboxes", kind).create(Settings().sandbox)
    return found
