"""Starts bubblewrap anew for each run, where the kernel gives a resident sandbox no mounts of its own."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

from greenloop_sandbox.backends import _identity, _masking, _mounts, _seccomp, _supervisor
from greenloop_sandbox.backends._bwrap_binary import counts_processes
from greenloop_sandbox.backends._launch import NAME, Binary, staged_workspace, start_supervisor
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.ports import Session
from greenloop_sandbox.records import Execution, SandboxSpec, TestRun


class OneShotSession(Session):
    """An open sandbox for one workspace. Every run has a fresh sandbox, so runs may overlap in time."""

    def __init__(self, spec: SandboxSpec, binary: Binary, identity: _identity.Identity) -> None:
        self._spec, self._binary, self._identity = spec, binary, identity
        self._scanner = _masking.WorkspaceScanner(spec)
        self._running: set[_supervisor.Supervisor] = set()
        self._empty_file: Path | None = None

    @property
    def name(self) -> str:
        return NAME

    async def run(self, run: TestRun) -> Execution:
        """Runs the tests. A failure of the sandbox itself is reported in `Execution.broken`."""
        supervisor = None
        try:
            run = _mounts.follow_links(self._spec.root, run)
            arguments, disk = await asyncio.to_thread(self._arguments, run), self._spec.limits.disk
            supervisor = await start_supervisor(
                self._binary, self._spec, self._identity, arguments, files=run.files, disk=disk
            )
            self._running.add(supervisor)
            return await _supervisor.run_once(
                supervisor,
                self._spec,
                run,
                count_processes=counts_processes(),
                watch_disk=self._binary.overlay and not self._binary.staged,
            )
        except (ValueError, CannotVerifyError) as error:
            return Execution(broken=f"The sandbox cannot be set up: {str(error).rstrip('.')}.")
        except (_supervisor.SupervisorError, OSError) as error:
            return Execution(broken=str(error))
        finally:
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
            staged=staged_workspace(self._spec.root, writable=True) if self._binary.staged else None,
        )
