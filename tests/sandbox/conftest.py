"""Small workspaces and open sandboxes for them."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from greenloop.core.nouns import Environment, Limits, Place
from greenloop.core.ports import Session
from greenloop.sandboxes.bubblewrap import Bubblewrap

MASKED = (".env*", "*.pem", "id_rsa*", ".git")

Open = Callable[..., Awaitable[Session]]


def this_environment() -> Environment:
    prefix, base = Path(sys.prefix), Path(sys.base_prefix)
    return Environment(
        executable=Path(sys.executable),
        prefix=prefix,
        base=base,
        version=sys.version_info[:2],
        source="test",
        has_pytest=True,
    )


@pytest.fixture
def lay() -> Callable[[Path, Mapping[str, str]], Path]:
    """`lay(root, files)`: a workspace of these files, with a configuration file of its own."""

    def write(root: Path, files: Mapping[str, str]) -> Path:
        for name, text in {"pytest.ini": "[pytest]\n", **files}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return root

    return write


@pytest.fixture
def snapshot() -> Callable[[Path], dict[str, tuple[bytes, int]]]:
    """`snapshot(root)`: content and time of every file."""

    def take(root: Path) -> dict[str, tuple[bytes, int]]:
        return {
            str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    return take


@pytest.fixture
def environment() -> Environment:
    """The Python that runs these tests."""
    return this_environment()


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    """`opened(root, writable=..., **place)`: a bubblewrap session that is closed after the test."""
    async with AsyncExitStack() as stack:

        async def open_session(root: Path, *, writable: bool = True, limits: Limits = Limits(), **more) -> Session:
            place = Place(root=root, environment=this_environment(), masked=MASKED, limits=limits, **more)
            session = await Bubblewrap(writable=writable).open(place)
            stack.push_async_callback(session.close)
            return session

        yield open_session
