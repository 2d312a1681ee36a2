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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.sandbox import Execution, SandboxSpec, TestRun
from greenloop.project.sources import CONFIGURATION
from greenloop.sandboxes import payload
from greenloop.sandboxes.backends import _identity, _masking, _mounts, _seccomp, _supervisor
from greenloop.sandboxes.backends._bwrap_binary import Program, kernel
from greenloop.sandboxes.backends._launch import open_words, shown, staging
from greenloop.sandboxes.backends._one_shot import ColdSession
from greenloop.sandboxes.backends._warmup import PREPARING, Learnt, Stamp, rehearsal, suspicious

log = logging.getLogger(__name__)

_NAME = "bubblewrap"
RUNS = 200  # after this many runs an instance is taken down; the next run builds another
SEEDS = 2  # instances that may exist at once, one for each hash seed


@dataclass(kw_only=True, eq=False)
class Wall:
    """A running sandbox whose supervisor has reported ready."""

    supervisor: _supervisor.Supervisor
    stamp: Stamp
    session: bool = False
    runs: int = 0


class ResidentSession:
    """An open sandbox for one workspace. Runs with the same hash seed run one after the other."""

    def __init__(
        self, place: SandboxSpec, program: Program, identity: _identity.Identity, learnt: Learnt, cold: ColdSession
    ) -> None:
        self._place, self._program, self._identity, self._learnt = place, program, identity, learnt
        self._search = _masking.Everywhere(place)
        self._walls: dict[int, Wall] = {}
        self._turns: dict[int, asyncio.Lock] = {}
        self._learning: asyncio.Task[None] | None = None
        self._cold, self._fallen = cold, False

    @property
    def name(self) -> str:
        return _NAME

    async def run(self, run: TestRun) -> Execution:
        """Runs the tests. A failure of the sandbox itself is reported in `Execution.broken`."""
        if self._fallen:
            return await self._cold.run(run)
        async with self._turn(run.hash_seed):
            execution = await self._once(run, session=self._learnt.fits(run))
        if self._fallen:
            return await self._cold.run(run)
        if run.baseline and run.hash_seed == 0 and not execution.broken:
            previous = self._learning
            self._learning = asyncio.create_task(self._learn(run, execution, previous))
        return execution

    async def warm(self) -> None:
        """Builds the sandbox ahead of the first run. Never raises: the first run reports what is wrong."""
        async with self._turn(0):
            with contextlib.suppress(_supervisor.Lost, CannotVerifyError, OSError):
                await self._standing(0)

    async def pause(self) -> None:
        """Stops all instances; the next run resumes its own."""
        for seed, instance in tuple(self._walls.items()):
            async with self._turn(seed):
                instance.supervisor.pause(on=True)

    async def close(self) -> None:
        """Takes every instance down; nothing is left on the host."""
        if self._learning is not None:
            self._learning.cancel()
            await asyncio.gather(self._learning, return_exceptions=True)
        await asyncio.gather(*(self._down(seed) for seed in tuple(self._walls)))
        await self._cold.close()

    def _turn(self, seed: int) -> asyncio.Lock:
        return self._turns.setdefault(seed, asyncio.Lock())

    # -- one run ----------------------------------------------------------------------------------------------------

    async def _once(self, run: TestRun, *, session: bool) -> Execution:
        seed = run.hash_seed
        try:
            _mounts.check(self._place.root, [*sorted(run.files), *run.without])
            scanning = asyncio.ensure_future(asyncio.to_thread(self._search.now))  # while the sandbox is built
            instance = await self._standing(seed)
            hidden = await scanning
            instance.runs += 1
            execution = await self._asked(instance, run, hidden, session=session and instance.session)
        except (ValueError, CannotVerifyError) as error:
            return Execution(broken=f"The sandbox cannot be laid out: {str(error).rstrip('.')}.")
        except (_supervisor.Lost, OSError) as error:
            await self._down(seed)
            return self._refused(str(error))
        except BaseException:
            await asyncio.shield(self._down(seed))
            raise
        if instance.runs >= RUNS or suspicious(execution):
            await self._down(seed)
        return execution

    async def _asked(self, wall: Wall, run: TestRun, hidden: _masking.Hidden, *, session: bool) -> Execution:
        protocol = payload.protocol()
        key = secrets.token_bytes(32)
        request = _supervisor.request(
            self._place,
            run,
            key,
            files=run.files,
            session=session,
            wall=protocol.wall_field(hidden.files, hidden.folders),
            filters=_seccomp.program() or b"",
            count_processes=kernel() >= (5, 14),  # since then counted per user namespace
        )
        reply = await wall.supervisor.ask(request, "done", run.seconds + _supervisor.GRACE_SECONDS)
        return _supervisor.execution(reply, key)

    def _refused(self, problem: str) -> Execution:
        """Reports a failure; where a resident sandbox is impossible, all later runs use one-shot sandboxes instead."""
        if problem.startswith("The run's wall could not be made") or "could not be staged" in problem:
            log.warning("%s Each run gets a sandbox of its own, which takes longer.", problem)
            self._fallen = True
        return Execution(broken=problem)

    # -- instances --------------------------------------------------------------------------------------------------

    async def _standing(self, seed: int) -> Wall:
        """Returns the instance of this hash seed, or a new one where the files it was built from have changed."""
        stamp = await asyncio.to_thread(_stamp, self._place)
        instance = self._walls.get(seed)
        if instance is not None and (instance.stamp != stamp or instance.supervisor.ended):
            await self._down(seed)
            instance = None
        if instance is not None:
            instance.supervisor.pause(on=False)
        else:
            while len(self._walls) >= SEEDS:
                await self._down(next(iter(self._walls)))
            instance = await self._built(seed, stamp)
        return instance

    async def _built(self, seed: int, stamp: Stamp) -> Wall:
        descriptors: list[int] = []
        user_options: dict[str, Any] = {}
        if self._identity.drop and not self._program.staged:
            user_options = {"user": self._identity.uid, "group": self._identity.gid, "extra_groups": []}
        try:
            argv = self._argv(seed, descriptors)
            supervisor = await _supervisor.Supervisor.start(
                argv, title=_NAME, pass_fds=tuple(descriptors), env={}, cwd="/", **user_options
            )
            self._walls[seed] = instance = Wall(supervisor=supervisor, stamp=stamp)
            try:
                await supervisor.ready()
                await self._prepared(instance)
            except BaseException:
                await asyncio.shield(self._down(seed))
                raise
            return instance
        finally:
            for fd in descriptors:
                os.close(fd)

    def _argv(self, seed: int, descriptors: list[int]) -> list[str]:
        root = self._place.root
        staged_arguments = shown(root) if self._program.staged else None
        arguments = _mounts.resident(self._place, self._identity, hash_seed=seed, staged=staged_arguments)
        supervisor_command = [str(self._place.environment.executable), "-s", "-B", f"{_mounts.INSIDE}/supervisor.py"]
        supervisor_command += ["--alone", "--packages", f"{_mounts.INSIDE}/packages"]
        if not self._place.network and (addresses := _mounts.addresses()):
            supervisor_command += ["--addresses", addresses]
        argv = [*open_words([self._program.path, *arguments], descriptors), *supervisor_command]
        return staging(argv, root, self._identity, descriptors, files={}, disk=0) if staged_arguments else argv

    async def _prepared(self, wall: Wall) -> None:
        """Prepares a new instance with what earlier ones have learnt."""
        self._learnt.about(wall.stamp[1:2])
        if self._learnt.useful:
            await self._prepare(wall, self._learnt.modules, trial=False)

    async def _down(self, seed: int) -> None:
        instance = self._walls.pop(seed, None)
        if instance is not None:
            await instance.supervisor.end()

    # -- learning ---------------------------------------------------------------------------------------------------

    async def _learn(self, run: TestRun, execution: Execution, before: asyncio.Task[None] | None) -> None:
        """After a run of the user's own code: imports what it needed, and tests whether a prepared session agrees."""
        if before is not None:
            await asyncio.gather(before, return_exceptions=True)
        warmup = self._learnt
        packages, can_rehearse = warmup.new(execution), warmup.rehearses(run, execution)
        if not packages and not can_rehearse:
            return
        async with self._turn(0):
            instance = self._walls.get(0)
            if instance is None:
                return
            try:
                should_compare = (
                    await self._prepare(instance, packages, trial=True) and instance.session and can_rehearse
                )
                if should_compare and not await self._agrees(run, execution):
                    await self._down(0)
            except (_supervisor.Lost, OSError) as error:
                log.info("The sandbox could not be prepared (%s); it works without.", error)
                warmup.session = False
                await self._down(0)
            except BaseException:
                await asyncio.shield(self._down(0))
                raise

    async def _agrees(self, run: TestRun, execution: Execution) -> bool:
        """False where a pytest session opened before the fork certainly gives other outcomes."""
        with_session = await self._once(rehearsal(run), session=True)
        if self._learnt.compared(run, execution, with_session):
            return True
        repeated = await self._once(rehearsal(run), session=False)
        return self._learnt.compared(run, repeated, with_session) or not self._learnt.refuted(execution, repeated)

    async def _prepare(self, wall: Wall, names: Sequence[str], *, trial: bool) -> bool:
        """Sends a prepare request. False: it spoilt the supervisor, which was ended. Raises `SupervisorError`."""
        request = payload.protocol().prepare_request(
            str(self._place.root), names, rewritten=self._learnt.rewritten, trial=trial, session=self._learnt.session
        )
        reply = await wall.supervisor.ask(request, "prepared", PREPARING)
        wall.session = bool(reply["session"])
        if self._learnt.prepared(names, reply):
            return True
        for seed in [seed for seed, instance in self._walls.items() if instance is wall]:
            await self._down(seed)
        return False


def _stamp(place: SandboxSpec) -> Stamp:
    """Identifies the state an instance was built from: the folder itself, installed packages, configuration."""
    root = os.stat(place.root)  # noqa: PTH116 - one call among many
    libraries = sorted(place.environment.prefix.glob("lib*/python*/*-packages"))
    files = [place.root / name for name in CONFIGURATION]
    return ((root.st_dev, root.st_ino), tuple(map(_times, libraries)), tuple(map(_times, files)))


def _times(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size
