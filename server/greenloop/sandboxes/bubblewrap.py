"""The light wall on Linux: bubblewrap, with the project's own interpreter and no engine to install.

Each run is one bubblewrap with a supervisor (sandbox/runner.py) in it. docs/security.md says what it promises.
"""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from greenloop.core.errors import CannotVerify
from greenloop.core.nouns import Execution, Place, Probe, Run
from greenloop.sandboxes import _hidden, _mounts, _seccomp, _supervisor
from greenloop.sandboxes._programs import Program, choose, kernel
from greenloop.sandboxes._staging import laid, open_words, someone, staging
from greenloop.settings import Settings

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

    async def open(self, place: Place) -> BubblewrapSession:
        """Raises `CannotVerify` with the remedy when no bubblewrap works here or the place cannot be shown."""
        program = await self._choose()
        if not place.root.is_dir():
            raise CannotVerify(f"The workspace {place.root} is no folder that can be read.")
        identity = _identity(place, program)
        _mounts.interpreter(place.environment, place.root)
        return BubblewrapSession(place, program, identity)

    async def _choose(self) -> Program:
        program = await asyncio.to_thread(choose, self._programs)
        return program if self._writable else replace(program, overlay=False, staged=False)


class BubblewrapSession:
    """An open sandbox for one workspace. Every run is a fresh wall, so runs may overlap in time."""

    def __init__(self, place: Place, program: Program, identity: _mounts.Identity) -> None:
        self._place, self._program, self._identity = place, program, identity
        folders = [place.root, *(Path(os.path.realpath(path)) for path in place.environment.extra if path.is_dir())]
        self._searches = [_hidden.Search(folder, place.masked, place.environment.prefix) for folder in folders]
        self._running: set[_supervisor.Supervisor] = set()
        self._empty: Path | None = None

    @property
    def name(self) -> str:
        return NAME

    async def run(self, run: Run) -> Execution:
        """Runs the tests. Whatever goes wrong with the sandbox itself is in `Execution.broken`."""
        descriptors: list[int] = []
        supervisor = None
        try:
            _mounts.check(self._place.root, sorted(run.files))
            # Only the search goes to a thread: descriptors are opened where a cancel cannot lose them.
            words = await asyncio.to_thread(self._words, run)
            argv = self._argv(words, run, descriptors)
            supervisor = await _supervisor.Supervisor.start(
                argv, title=NAME, pass_fds=tuple(descriptors), env={}, cwd="/", **self._user()
            )
            self._running.add(supervisor)
            return await _supervisor.run_once(
                supervisor,
                self._place,
                run,
                count_processes=kernel() >= (5, 14),  # since then counted for each user namespace by itself
                watch_disk=self._program.overlay and not self._program.staged,
            )
        except (ValueError, CannotVerify) as error:
            return Execution(broken=f"The sandbox cannot be laid out: {str(error).rstrip('.')}.")
        except (_supervisor.Lost, OSError) as error:
            return Execution(broken=str(error))
        finally:
            for fd in descriptors:
                os.close(fd)
            if supervisor is not None:
                await asyncio.shield(self._end(supervisor))

    async def close(self) -> None:
        """Ends whatever still runs; nothing is left on the host."""
        await asyncio.gather(*(self._end(supervisor) for supervisor in tuple(self._running)))
        if self._empty is not None:
            shutil.rmtree(self._empty.parent, ignore_errors=True)
            self._empty = None

    async def _end(self, supervisor: _supervisor.Supervisor) -> None:
        await supervisor.end()
        self._running.discard(supervisor)

    def _words(self, run: Run) -> list[_mounts.Word]:
        hidden = {search.root: search.now() for search in self._searches}
        if max(len(found.files) for found in hidden.values()) > _mounts.MANY and self._empty is None:
            folder = Path(tempfile.mkdtemp(prefix="greenloop-"))
            folder.chmod(0o755)
            self._empty = folder / "empty"
            self._empty.touch(0o444)
        return _mounts.words(
            self._place,
            self._identity,
            writable=self._program.overlay,
            files=run.files,
            hidden=hidden,
            seccomp=_seccomp.program(),
            hash_seed=run.hash_seed,
            empty=self._empty,
            staged=laid(self._place.root) if self._program.staged else None,
        )

    def _argv(self, words: list[_mounts.Word], run: Run, descriptors: list[int]) -> list[str]:
        command = [str(self._place.environment.executable), "-s", "-B", f"{_mounts.INSIDE}/runner.py"]
        command += ["--alone", "--packages", f"{_mounts.INSIDE}/packages"]
        argv = [*open_words([self._program.path, *words], descriptors), *command]
        if not self._program.staged:
            return argv
        return staging(
            argv, self._place.root, self._identity, descriptors, files=run.files, disk=self._place.limits.disk
        )

    def _user(self) -> dict[str, object]:
        if not self._identity.drop or self._program.staged:
            return {}
        return {"user": self._identity.uid, "group": self._identity.gid, "extra_groups": []}


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
