"""The light back end on Linux: bubblewrap, with the project's own interpreter and without an engine.

Each session keeps a sandbox open whose supervisor (inside/supervisor.py) forks a worker for each run.
docs/security.md says what it guarantees.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from greenloop_sandbox.backends import _identity, _interpreter, _seccomp, _services
from greenloop_sandbox.backends._bwrap_binary import choose
from greenloop_sandbox.backends._launch import Binary, test_identity
from greenloop_sandbox.backends._one_shot import OneShotSession
from greenloop_sandbox.backends._resident import ResidentSession
from greenloop_sandbox.backends._warmup import Warmup
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.ports import SelectionSettings
from greenloop_sandbox.records import Probe, SandboxSpec

log = logging.getLogger(__name__)

NAME = "bubblewrap"


def create(settings: SelectionSettings) -> Bubblewrap:  # noqa: ARG001 (every back end takes the settings; this one needs none)
    return Bubblewrap()


class Bubblewrap:
    """The bubblewrap back end. `binaries` are tried in order of preference (None: those of the machine).

    `writable` False: the workspace is read-only inside even where a throw-away layer would be possible.
    """

    def __init__(self, binaries: Sequence[str] | None = None, *, writable: bool = True) -> None:
        self._binaries = None if binaries is None else tuple(binaries)
        self._writable = writable
        self.report_status: Callable[[str], None] = log.debug
        self._warmups: dict[Path, Warmup] = {}

    @property
    def name(self) -> str:
        return NAME

    async def probe(self) -> Probe:
        """Runs the self-test. Never raises: `detail` and `remedy` say what is missing."""
        try:
            program = await self._choose()
        except CannotVerifyError as error:
            return Probe(name=NAME, ok=False, detail=str(error), remedy=error.remedy)
        workspace = "writable throw-away workspace" if program.overlay else "read-only workspace"
        seccomp = "seccomp filter" if _seccomp.program() is not None else f"no seccomp filter on {platform.machine()}"
        return Probe(name=NAME, ok=True, detail=f"{program.path} {program.version}, {workspace}, {seccomp}")

    async def open(self, spec: SandboxSpec) -> OneShotSession | ResidentSession:
        """Raises `CannotVerifyError` with the remedy when no bubblewrap works or the interpreter cannot be shown."""
        program = await self._choose()
        if not spec.root.is_dir():
            raise CannotVerifyError(f"The workspace {spec.root} is not a readable folder.")
        identity = _find_identity(spec, program)
        _interpreter.mount_arguments(spec.environment, spec.root)
        one_shot = OneShotSession(spec, program, identity)
        if not program.overlay:
            _services.refuse(spec, "this bubblewrap, which gives tests no workspace to write in")
            return one_shot
        warmup = self._warmups.setdefault(spec.root, Warmup())
        return ResidentSession(spec, program, identity, warmup, one_shot)

    async def _choose(self) -> Binary:
        program = await asyncio.to_thread(choose, self._binaries)
        return program if self._writable else replace(program, overlay=False, staged=False)


def _find_identity(spec: SandboxSpec, binary: Binary) -> _identity.Identity:
    """The identity that runs the tests. Raises `CannotVerifyError` when that user cannot read what is needed."""
    identity = test_identity(spec.root)
    if not identity.drops_root:
        return identity
    environment = spec.environment
    needed = {os.path.realpath(path) for path in (environment.prefix, environment.base, environment.executable)}
    if binary.staged:
        unreadable = [path for path in needed if not _identity.can_read(path, identity)]
    else:
        needed |= {str(spec.root), binary.path}
        unreadable = [path for path in needed if not _identity.is_reachable(path, identity)]
    if unreadable:
        raise CannotVerifyError(
            f"{min(unreadable)} cannot be read by an unprivileged user, and tests never run as root.",
            remedy=f"Run greenloop as the owner of the workspace, or grant access: `chmod -R o+rX {min(unreadable)}`.",
        )
    return identity
