"""The light wall on Linux: bubblewrap, with the project's own interpreter and no engine to install.

One wall stays for each session, with a supervisor (sandbox/runner.py) in it that forks a worker for each run.
docs/security.md says what it promises.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from greenloop.core.errors import CannotVerify
from greenloop.core.nouns import Place, Probe
from greenloop.sandboxes import _mounts, _seccomp
from greenloop.sandboxes._cold import ColdSession
from greenloop.sandboxes._learning import Learnt
from greenloop.sandboxes._programs import Program, choose
from greenloop.sandboxes._resident import ResidentSession
from greenloop.sandboxes._staging import someone
from greenloop.settings import Settings

log = logging.getLogger(__name__)

NAME = "bubblewrap"


def create(settings: Settings) -> Bubblewrap:  # noqa: ARG001 (every back end takes the settings; this one needs none)
    return Bubblewrap()


class Bubblewrap:
    """The back end. `programs` are the binaries to choose from, in order of preference (None: those of the machine).

    `writable` False: the workspace is read-only inside even where a throw-away layer would be possible.
    """

    def __init__(self, programs: Sequence[str] | None = None, *, writable: bool = True) -> None:
        self._programs = None if programs is None else tuple(programs)
        self._writable = writable
        self.say: Callable[[str], None] = log.debug
        self._learnt: dict[Path, Learnt] = {}

    @property
    def name(self) -> str:
        return NAME

    async def probe(self) -> Probe:
        """Runs the self-test. Never raises: what is missing is in `detail` and `remedy`."""
        try:
            program = await self._choose()
        except CannotVerify as error:
            return Probe(name=NAME, ok=False, detail=str(error), remedy=error.remedy)
        workspace = "writable throw-away workspace" if program.overlay else "read-only workspace"
        filtered = "seccomp filter" if _seccomp.program() is not None else f"no seccomp filter on {platform.machine()}"
        return Probe(name=NAME, ok=True, detail=f"{program.path} {program.version}, {workspace}, {filtered}")

    async def open(self, place: Place) -> ColdSession | ResidentSession:
        """Raises `CannotVerify` with the remedy when no bubblewrap works here or the place cannot be shown."""
        program = await self._choose()
        if not place.root.is_dir():
            raise CannotVerify(f"The workspace {place.root} is no folder that can be read.")
        identity = _identity(place, program)
        _mounts.interpreter(place.environment, place.root)
        cold = ColdSession(place, program, identity)
        if not program.overlay:
            return cold
        learnt = self._learnt.setdefault(place.root, Learnt())
        return ResidentSession(place, program, identity, learnt, cold)

    async def _choose(self) -> Program:
        program = await asyncio.to_thread(choose, self._programs)
        return program if self._writable else replace(program, overlay=False, staged=False)


def _identity(place: Place, program: Program) -> _mounts.Identity:
    """Ours, or where we are root that of the workspace's owner, or of nobody.

    Raises `CannotVerify` when that user cannot read what is needed.
    """
    identity = someone(place.root)
    if not identity.drop:
        return identity
    environment = place.environment
    needed = {os.path.realpath(path) for path in (environment.prefix, environment.base, environment.executable)}
    if program.staged:
        closed = [path for path in needed if not _mounts.open_to(path, identity)]
    else:
        needed |= {str(place.root), program.path}
        closed = [path for path in needed if not _mounts.reachable(path, identity)]
    if closed:
        raise CannotVerify(
            f"{min(closed)} cannot be read by an unprivileged user, and tests never run as root.",
            remedy=f"Run greenloop as the owner of the workspace, or allow it: `chmod -R o+rX {min(closed)}`.",
        )
    return identity
