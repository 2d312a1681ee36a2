"""A resident bubblewrap session: one supervisor per hash seed, each run a fork with its own mounts.

Nothing of a run reaches the next one, because its mounts, processes and shared memory end with it. Only what was learnt
from the user's own code is kept: which packages to import before the fork, and for which selectors a pytest session
that was opened before the fork gives the same outcomes as a fresh one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from greenloop_sandbox.backends import _identity, _masking, _mounts, _seccomp, _supervisor
from greenloop_sandbox.backends._bwrap_binary import counts_processes
from greenloop_sandbox.backends._launch import NAME, Binary, staged_workspace, start_supervisor
from greenloop_sandbox.backends._one_shot import OneShotSession
from greenloop_sandbox.backends._services import Services
from greenloop_sandbox.backends._warmup import PREPARE_SECONDS, Stamp, WarmSession, Warmup, is_suspicious
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.pytest_files import CONFIGURATION
from greenloop_sandbox.records import Execution, SandboxSpec, TestRun

log = logging.getLogger(__name__)

MAX_RUNS = 200  # after this many runs an instance is taken down; the next run builds another
MAX_INSTANCES = 2  # instances that may exist at once, one for each hash seed; more only while all are in use


@dataclass(kw_only=True, eq=False)
class SandboxInstance:
    """A running sandbox whose supervisor has reported ready."""

    supervisor: _supervisor.Supervisor
    stamp: Stamp
    services: Services
    has_session: bool = False
    runs: int = 0


class ResidentSession(WarmSession):
    """An open sandbox for one workspace. Runs with the same hash seed run one after the other."""

    failures = (_supervisor.SupervisorError, OSError)

    def __init__(
        self, spec: SandboxSpec, binary: Binary, identity: _identity.Identity, warmup: Warmup, one_shot: OneShotSession
    ) -> None:
        self._spec, self._binary, self._identity, self.warmup = spec, binary, identity, warmup
        self._scanner = _masking.WorkspaceScanner(spec)
        self._instances: dict[int, SandboxInstance] = {}
        self._locks = {}
        self._one_shot, self._uses_one_shot = one_shot, False

    @property
    def name(self) -> str:
        return NAME

    async def run(self, run: TestRun) -> Execution:
        """Runs the tests; its own failure is in `Execution.broken`, that of a service raises `CannotVerifyError`."""
        if self._uses_one_shot:
            return await self._one_shot.run(run)
        execution = await super().run(run)
        return await self._one_shot.run(run) if self._uses_one_shot else execution

    async def warm(self) -> None:
        """Builds the sandbox ahead of the first run. Never raises: the first run reports what is wrong."""
        async with self._lock(0):
            with contextlib.suppress(_supervisor.SupervisorError, CannotVerifyError, OSError):
                await self._ensure_instance(0)

    async def pause(self) -> None:
        """Stops all instances; the next run resumes its own."""
        for seed, instance in tuple(self._instances.items()):
            async with self._lock(seed):
                instance.supervisor.pause(paused=True)

    async def close(self) -> None:
        """Takes every instance down; nothing is left on the host."""
        await self._stop_learning()
        await asyncio.gather(*(self._stop_instance(seed) for seed in tuple(self._instances)))
        await self._one_shot.close()

    # -- one run ----------------------------------------------------------------------------------------------------

    async def _run_once(self, run: TestRun, *, prepared_session: bool) -> Execution:
        seed = run.hash_seed
        try:
            run = _mounts.follow_links(self._spec.root, run)
            instance = await self._ensure_instance(seed)
            hidden = await asyncio.to_thread(self._scanner.scan)
            instance.runs += 1
            execution = await self._ask(instance, run, hidden, session=prepared_session and instance.has_session)
        except ValueError as error:
            return Execution(broken=f"The sandbox cannot be set up: {str(error).rstrip('.')}.")
        except (_supervisor.SupervisorError, OSError) as error:
            await self._stop_instance(seed)
            problem = str(error)
            # Where a resident sandbox is impossible, all later runs use one-shot sandboxes instead.
            if problem.startswith("The run could not be isolated") or "could not be staged" in problem:
                log.warning("%s Each run gets a sandbox of its own, which takes longer.", problem)
                self._uses_one_shot = True
            return Execution(broken=problem)
        except BaseException:
            await asyncio.shield(self._stop_instance(seed))
            raise
        if instance.runs >= MAX_RUNS or is_suspicious(execution):
            await self._stop_instance(seed)
        return execution

    async def _ask(
        self, instance: SandboxInstance, run: TestRun, hidden: _masking.HiddenPaths, *, session: bool
    ) -> Execution:
        key = secrets.token_bytes(32)
        request = _supervisor.run_request(
            self._spec,
            run,
            key,
            files=run.files,
            session=session,
            wall=vars(hidden),
            filters=_seccomp.program() or b"",
            count_processes=counts_processes(),
        )
        reply = await instance.supervisor.ask(request, "done", run.seconds + _supervisor.GRACE_SECONDS)
        execution = _supervisor.read_execution(reply, key)
        ended = "".join(f"\n{name} (`sandbox.services`) ended during the tests." for name in instance.services.ended)
        return replace(execution, output=execution.output + ended)

    # -- instances --------------------------------------------------------------------------------------------------

    async def _ensure_instance(self, seed: int) -> SandboxInstance:
        """Returns the instance of this hash seed, or a new one where the files it was built from have changed."""
        stamp = await asyncio.to_thread(_stamp, self._spec)
        instance = self._instances.get(seed)
        if instance is not None and (
            instance.stamp != stamp or instance.supervisor.has_ended or instance.services.ended
        ):
            await self._stop_instance(seed)
            instance = None
        if instance is not None:
            instance.supervisor.pause(paused=False)
        else:
            await self._make_room()
            try:
                instance = await self._start_instance(seed, stamp)
            except _supervisor.SupervisorError:  # nothing of the run has begun, so a second try loses nothing
                instance = await self._start_instance(seed, stamp)
        return instance

    async def _make_room(self) -> None:
        """Stops instances that nobody uses, oldest first, so that another may be started."""
        for seed in tuple(self._instances):
            if len(self._instances) >= MAX_INSTANCES and not self._lock(seed).locked():
                await self._stop_instance(seed)

    async def _start_instance(self, seed: int, stamp: Stamp) -> SandboxInstance:
        services = Services(program=self._binary.path, services=self._spec.services)
        await services.start()
        try:
            supervisor = await self._start_supervisor(seed, services)
            instance = SandboxInstance(supervisor=supervisor, stamp=stamp, services=services)
            self._instances[seed] = instance
            # The first scan takes long; each run's own reads only what has changed since.
            await asyncio.gather(supervisor.wait_ready(), asyncio.to_thread(self._scanner.scan))
            await services.connect()
            await self._prepare_new(instance)
        except BaseException:
            await asyncio.shield(self._stop_instance(seed))
            await asyncio.shield(services.end())  # also where there is no instance yet
            raise
        return instance

    async def _start_supervisor(self, seed: int, services: Services) -> _supervisor.Supervisor:
        spec, binary, identity = self._spec, self._binary, self._identity
        workspace = staged_workspace(spec.root, writable=False) if binary.staged else None
        arguments = _mounts.resident_arguments(spec, identity, hash_seed=seed, staged=workspace)
        descriptors: list[int] = []
        options = services.arguments(descriptors)
        if not spec.network and (addresses := _mounts.addresses()):
            options += ["--addresses", addresses]
        return await start_supervisor(binary, spec, identity, arguments, options=options, descriptors=descriptors)

    async def _prepare_new(self, instance: SandboxInstance) -> None:
        """Prepares a new instance with what earlier ones have learnt."""
        self.warmup.reset_if_changed(instance.stamp[1:2])
        if self.warmup.is_useful:
            await self._send_prepare(instance, self.warmup.modules, trial=False)

    async def _stop_instance(self, seed: int) -> None:
        instance = self._instances.pop(seed, None)
        if instance is not None:
            await asyncio.gather(instance.supervisor.end(), instance.services.end())

    # -- learning ---------------------------------------------------------------------------------------------------

    async def _prepare(self, names: Sequence[str]) -> bool:
        instance = self._instances.get(0)
        return instance is not None and await self._send_prepare(instance, names, trial=True) and instance.has_session

    async def _discard(self) -> None:
        await self._stop_instance(0)

    async def _send_prepare(self, instance: SandboxInstance, names: Sequence[str], *, trial: bool) -> bool:
        """Sends a prepare request. False: it spoilt the supervisor, which was ended. Raises `SupervisorError`."""
        request = self.warmup.request(self._spec, names, trial=trial)
        reply = await instance.supervisor.ask(request, "prepared", PREPARE_SECONDS)
        instance.has_session = bool(reply["session"])
        if self.warmup.record_prepared(names, reply):
            return True
        for seed in [seed for seed, other in self._instances.items() if other is instance]:
            await self._stop_instance(seed)
        return False


def _stamp(spec: SandboxSpec) -> Stamp:
    """Identifies the state an instance was built from: the folder itself, installed packages, configuration."""
    root = os.stat(spec.root)  # noqa: PTH116 - one call among many
    libraries = sorted(spec.environment.prefix.glob("lib*/python*/*-packages"))
    files = [spec.root / folder / name for folder in dict.fromkeys(("", spec.start)) for name in CONFIGURATION]
    return ((root.st_dev, root.st_ino), tuple(map(_file_times, libraries)), tuple(map(_file_times, files)))


def _file_times(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size
