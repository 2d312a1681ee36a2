"""The self-test of a container: a small workspace of its own, run behind the whole wall."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from greenloop.container.box import Broken
from greenloop.container.engine import Engine
from greenloop.container.selftest import FILES, SELECTORS, complaint
from greenloop.core.nouns import Environment, Limits, Place, Run
from greenloop.passed import recall, remember
from greenloop.sandboxes._container import NAME, Session
from greenloop.sandboxes._supervisor import Lost


def self_test(engine: Engine, image: str, limits: Limits, runtime: str = "") -> str:
    """What is wrong with the wall (empty: nothing). Tried once per boot, engine and image; only success is kept."""
    key = f"{engine.name}|{engine.version}|{engine.client.images.get(image).id}|{runtime}"
    if recall(NAME, key) is not None:
        return ""
    problem = tried(engine, image, limits, runtime)
    if not problem:
        remember(NAME, key, {})
    return problem


def tried(engine: Engine, image: str, limits: Limits, runtime: str = "") -> str:
    with _folder() as root:
        environment = Environment(
            executable=Path(sys.executable),
            prefix=Path(sys.prefix),
            base=Path(sys.base_prefix),
            version=sys.version_info[:2],
            source="self-test",
            has_pytest=True,
        )
        place = Place(root=root, environment=environment, limits=limits)
        session = Session(engine=engine, place=place, image=image, runtime=runtime)
        try:
            return complaint(session.once(Run(selectors=SELECTORS, seconds=30.0)))
        except (Broken, Lost) as problem:
            return str(problem)
        finally:
            session.end()


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="greenloop-selftest-") as folder:
        root = Path(folder).resolve()
        for path, text in FILES.items():
            (root / path).write_text(text, encoding="utf-8")
        yield root
