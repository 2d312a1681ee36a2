"""Starts bubblewrap anew for each run, where the kernel gives a resident sandbox no mounts of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.sandbox import Execution, SandboxSpec, TestRun
from greenloop.sandboxes.backends import _identity, _masking, _mounts, _seccomp, _supervisor
from greenloop.sandboxes.backends._bwrap_binary import Program, kernel
from greenloop.sandboxes.backends._launch import laid, open_words, staging

_NAME = "bubblewrap"


class ColdSession:
    """An open sandbox for one workspace. Every run has a fresh sandbox, so runs may overlap in time."""

    def __init__(self, place: SandboxSpec, program: Program, identity: _identity.Identity) -> None:
        self._place, self._program, self._identity = place, program, identity
        self._search = _masking.Everywhere(place)
        self._running: set[_supervisor.Supervisor] = set()
        self._empty: Path | None = None

    @property
    def name(self) -> str:
        return _NAME

    async def run(self, run: TestRun) -> Execution:
        """Runs the tests. A failure of the sandbox itself is reported in `Execution.broken`."""
        descriptors: list[int] = []
        supervisor = None
        try:
            _mounts.check(self._place.root, sorted(run.files))
            # Only the scan runs in a thread: descriptors are opened where a cancellation cannot lose them.
            arguments = await asyncio.to_thread(self._words, run)
            argv = self._argv(arguments, run, descriptors)
            supervisor = await _supervisor.Supervisor.start(
                argv, title=_NAME, pass_fds=tuple(descriptors), env={}, cwd="/", **self._user()
            )
            self._running.add(supervisor)
            return await _supervisor.run_once(
                supervisor,
                self._place,
                run,
                count_processes=kernel() >= (5, 14),  # since then counted per user namespace
                watch_disk=self._program.overlay and not self._program.staged,
            )
        except (ValueError, CannotVerifyError) as error:
            return Execution(broken=f"The sandbox cannot be laid out: {str(error).rstrip('.')}.")
        except (_supervisor.Lost, OSError) as error:
            return Execution(broken=str(error))
        finally:
            for fd in descriptors:
                os.close(fd)
            if supervisor is not None:
                await asyncio.shield(self._end(supervisor))

    async def warm(self) -> None:
        """Does nothing: each run builds its own sandbox."""

    async def pause(self) -> None:
        """Does nothing: between runs no process exists."""

    async def close(self) -> None:
        """Ends runs that are still going; nothing is left on the host."""
        await asyncio.gather(*(self._end(supervisor) for supervisor in tuple(self._running)))
        if self._empty is not None:
            shutil.rmtree(self._empty.parent, ignore_errors=True)
            self._empty = None

    async def _end(self, supervisor: _supervisor.Supervisor) -> None:
        await supervisor.end()
        self._running.discard(supervisor)

    def _words(self, run: TestRun) -> list[_mounts.Word]:
        hidden = self._search.now()
        if len(hidden.files) > _mounts.MANY and self._empty is None:
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

    def _argv(self, words: list[_mounts.Word], run: TestRun, descriptors: list[int]) -> list[str]:
        command = [str(self._place.environment.executable), "-s", "-B", f"{_mounts.INSIDE}/supervisor.py"]
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
