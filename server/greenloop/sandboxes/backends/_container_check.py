"""Self-test of a container: runs a small workspace of its own in the whole sandbox."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from greenloop.core.records.sandbox import Environment, Limits, SandboxSpec, TestRun
from greenloop.sandboxes.backends._container import NAME, ContainerSession
from greenloop.sandboxes.backends._supervisor import SupervisorError
from greenloop.sandboxes.container.connection import ContainerError
from greenloop.sandboxes.container.engine import Engine
from greenloop.sandboxes.container.selftest import FILES, SELECTORS, find_problem
from greenloop.sandboxes.selftest_cache import recall, remember


def self_test(engine: Engine, image: str, limits: Limits, runtime: str = "") -> str:
    """What is wrong with the sandbox ("": nothing). Tested once per boot, engine and image; only success is cached."""
    key = f"{engine.name}|{engine.version}|{engine.client.images.get(image).id}|{runtime}"
    if recall(NAME, key) is not None:
        return ""
    problem = try_sandbox(engine, image, limits, runtime)
    if not problem:
        remember(NAME, key, {})
    return problem


def try_sandbox(engine: Engine, image: str, limits: Limits, runtime: str = "") -> str:
    with _selftest_folder() as root:
        environment = Environment(
            executable=Path(sys.executable),
            prefix=Path(sys.prefix),
            base=Path(sys.base_prefix),
            version=sys.version_info[:2],
            source="self-test",
            has_pytest=True,
        )
        place = SandboxSpec(root=root, environment=environment, limits=limits)
        session = ContainerSession(engine=engine, spec=place, image=image, runtime=runtime)
        try:
            return find_problem(session.run_once(TestRun(selectors=SELECTORS, seconds=30.0)))
        except (ContainerError, SupervisorError) as problem:
            return str(problem)
        finally:
            session.end()


@contextlib.contextmanager
def _selftest_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="greenloop-selftest-") as folder:
        root = Path(folder).resolve()
        for path, text in FILES.items():
            (root / path).write_text(text, encoding="utf-8")
        yield root
