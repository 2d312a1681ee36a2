"""Starts bubblewrap anew for each run, where the kernel gives a resident sandbox no mounts of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from greenloop_sandbox.backends import _identity, _masking, _mounts, _seccomp, _supervisor
from greenloop_sandbox.backends._bwrap_binary import Binary, kernel_version
from greenloop_sandbox.backends._launch import open_arguments, staged_command, staged_writable
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.ports import Session
from greenloop_sandbox.records import Execution, SandboxSpec, TestRun

_NAME = "bubblewrap"


class OneShotSession(Session):
    """An open sandbox for one workspace. Every run has a fresh sandbox, so runs may overlap in time."""

    def __init__(self, spec: SandboxSpec, binary: Binary, identity: _identity.Identity) -> None:
        self._spec, self._binary, self._identity = spec, binary, identity
        self._scanner = _masking.WorkspaceScanner(spec)
        self._running: set[_supervisor.Supervisor] = set()
        self._empty_file: Path | None = None

    @property
    def name(self) -> str:
        return _NAME

    async def run(self, run: TestRun) -> Execution:
        """Runs the tests. A failure of the sandbox itself is reported in `Execution.broken`."""
        descriptors: list[int] = []
        supervisor = None
        try:
            run = _mounts.follow_links(self._spec.root, run)
            # Only the scan runs in a thread: descriptors are opened where a cancellation cannot lose them.
            arguments = await asyncio.to_thread(self._arguments, run)
            argv = self._argv(arguments, run, descriptors)
            user = self._identity.options(staged=self._binary.staged)
            supervisor = await _supervisor.Supervisor.start(
                argv, title=_NAME, pass_fds=tuple(descriptors), env={}, cwd="/", **user
            )
            self._running.add(supervisor)
            return await _supervisor.run_once(
                supervisor,
                self._spec,
                run,
                count_processes=kernel_version() >= (5, 14),  # since then counted per user namespace
                watch_disk=self._binary.overlay and not self._binary.staged,
            )
        except (ValueError, CannotVerifyError) as error:
            return Execution(broken=f"The sandbox cannot be set up: {str(error).rstrip('.')}.")
        except (_supervisor.SupervisorError, OSError) as error:
            return Execution(broken=str(error))
        finally:
            for fd in descriptors:
                os.close(fd)
            if supervisor is not None:
                await asyncio.shield(self._end(supervisor))

    async def close(self) -> None:
        """Ends runs that are still going; nothing is left on the host."""
        await asyncio.gather(*(self._end(supervisor) for supervisor in tuple(self._running)))
        if self._empty_file is not None:
            shutil.rmtree(self._empty_file.parent, ignore_errors=True)
            self._empty_file = None

    async def _end(self, supervisor: _supervisor.Supervisor) -> None:
        await supervisor.end()
        self._running.discard(supervisor)

    def _arguments(self, run: TestRun) -> list[_mounts.Argument]:
        hidden = self._scanner.scan()
        if len(hidden.files) > _mounts.SHARED_EMPTY_ABOVE and self._empty_file is None:
            folder = Path(tempfile.mkdtemp(prefix="greenloop-"))
            folder.chmod(0o755)
            self._empty_file = folder / "empty"
            self._empty_file.touch(0o444)
        return _mounts.one_shot_arguments(
            self._spec,
            self._identity,
            writable=self._binary.overlay,
            files=run.files,
            hidden=hidden,
            seccomp=_seccomp.program(),
            hash_seed=run.hash_seed,
            empty_file=self._empty_file,
            staged=staged_writable(self._spec.root) if self._binary.staged else None,
        )

    def _argv(self, arguments: list[_mounts.Argument], run: TestRun, descriptors: list[int]) -> list[str]:
        command = [str(self._spec.environment.executable), "-s", "-B", f"{_mounts.INSIDE}/supervisor.py"]
        command += ["--alone", "--packages", f"{_mounts.INSIDE}/packages"]
        argv = [*open_arguments([self._binary.path, *arguments], descriptors), *command]
        if not self._binary.staged:
            return argv
        return staged_command(
            argv, self._spec.root, self._identity, descriptors, files=run.files, disk=self._spec.limits.disk
        )
