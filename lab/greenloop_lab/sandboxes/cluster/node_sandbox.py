"""The side of a node: a sandbox of the node's own over the project's folder, opened and run in for another machine.

It must not know which program manages the cluster.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from greenloop.core.errors import CannotVerifyError, GreenloopError
from greenloop.project import sandbox_selection
from greenloop.project.settings import Settings
from greenloop.project.snapshot import read_stamps
from greenloop_lab.sandboxes.cluster.messages import Refusal, pack, unpack
from greenloop_sandbox import SandboxSpec, Session, TestRun

log = logging.getLogger(__name__)

T = TypeVar("T")
SHARE_REMEDY = "Share the project's folder and its Python environment with every node under the same path."


@dataclass(frozen=True, kw_only=True)
class Opening:
    """A sandbox that a node is to open. `state` identifies the files of the workspace; "" where there are too many."""

    spec: SandboxSpec
    settings: Settings
    state: str


class NodeSandbox:
    """A sandbox of this node; all values are packed. Its work runs in a loop of its own (`own_loop`)."""

    def __init__(self) -> None:
        self._session: Session | None = None

    async def open(self, packed: bytes) -> bytes:
        """Opens the sandbox; the packed answer is its name, or a `Refusal`."""
        try:
            self._session = await in_own_loop(_open(unpack(packed)))
        except GreenloopError as error:
            return pack(Refusal.of(error))
        return pack(self._session.name)

    async def run(self, packed: bytes) -> bytes:
        """Runs the tests; the answer is the packed execution. Cancelling kills what runs."""
        assert self._session is not None
        run: TestRun = unpack(packed)
        return pack(await in_own_loop(self._session.run(run)))

    async def close(self) -> None:
        if self._session is not None:
            await in_own_loop(self._session.close())


def workspace_state(root: Path) -> str:
    """Identifies the files of a workspace by path, size and time; "" where there are too many. Blocking."""
    stamps = read_stamps([root])
    if stamps is None:
        return ""
    rows = sorted((path.removeprefix(f"{root}/"), time, size) for path, time, size, _inode in stamps)
    return hashlib.sha256(repr(rows).encode()).hexdigest()


async def _open(opening: Opening) -> Session:
    spec = opening.spec
    for path, is_there in (
        (spec.root, spec.root.is_dir()),
        (spec.environment.executable, spec.environment.executable.exists()),
    ):
        if not is_there:
            raise CannotVerifyError(f"A node of the cluster has no {path}.", remedy=SHARE_REMEDY)
    state = await asyncio.to_thread(workspace_state, spec.root)
    if opening.state != state:
        raise CannotVerifyError(
            f"The files in {spec.root} are not the same on a node of the cluster, or they are being changed.",
            remedy=SHARE_REMEDY,
        )
    settings = replace(opening.settings, sandbox=replace(opening.settings.sandbox, kind="auto"))
    sandbox = await sandbox_selection.choose(settings, log.debug)
    return await sandbox.open(replace(spec, limits=sandbox_selection.clamp_limits(spec.limits, log.debug)))


async def in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """Awaits work in the loop of `own_loop`; cancelling cancels it there."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, own_loop()))


@cache
def own_loop() -> asyncio.AbstractEventLoop:
    """The event loop of this process, in a thread that lives as long as the process: children end with their thread."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop
