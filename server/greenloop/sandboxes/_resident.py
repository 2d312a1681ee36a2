"""A session whose wall stays: one supervisor for each hash seed, in which every run is a fork with mounts of its own.

Nothing of a run reaches the next one, because its mounts, processes and shared memory end with it. What is kept is
what the user's own code taught: which packages to import before the fork, and for which selectors a pytest session
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

from greenloop import inside
from greenloop.core.errors import CannotVerify
from greenloop.core.nouns import Execution, Place, Run
from greenloop.sandboxes import _hidden, _identity, _mounts, _seccomp, _supervisor
from greenloop.sandboxes._cold import ColdSession
from greenloop.sandboxes._learning import PREPARING, Learnt, Stamp, rehearsal, suspicious
from greenloop.sandboxes._programs import Program, kernel
from greenloop.sandboxes._staging import open_words, shown, staging
from greenloop.sources import CONFIGURATION

log = logging.getLogger(__name__)

_NAME = "bubblewrap"
RUNS = 200  # after so many a wall is taken down; the next run builds another
SEEDS = 2  # walls that may stand at once


@dataclass(kw_only=True, eq=False)
class Wall:
    """A wall that stands, with a supervisor that has said it is ready."""

    supervisor: _supervisor.Supervisor
    stamp: Stamp
    session: bool = False
    runs: int = 0


class ResidentSession:
    """An open sandbox for one workspace. Runs of one hash seed follow one another."""

    def __init__(
        self, place: Place, program: Program, identity: _identity.Identity, learnt: Learnt, cold: ColdSession
    ) -> None:
        self._place, self._program, self._identity, self._learnt = place, program, identity, learnt
        self._search = _hidden.Everywhere(place)
        self._walls: dict[int, Wall] = {}
        self._turns: dict[int, asyncio.Lock] = {}
        self._learning: asyncio.Task[None] | None = None
        self._cold, self._fallen = cold, False

    @property
    def name(self) -> str:
        return _NAME

    async def run(self, run: Run) -> Execution:
        """Runs the tests. Whatever goes wrong with the sandbox itself is in `Execution.broken`."""
        if self._fallen:
            return await self._cold.run(run)
        async with self._turn(run.hash_seed):
            execution = await self._once(run, session=self._learnt.fits(run))
        if self._fallen:
            return await self._cold.run(run)
        if run.baseline and run.hash_seed == 0 and not execution.broken:
            before = self._learning
            self._learning = asyncio.create_task(self._learn(run, execution, before))
        return execution

    async def warm(self) -> None:
        """Builds the wall before anybody waits for it. Never raises: the first run says what is wrong."""
        async with self._turn(0):
            with contextlib.suppress(_supervisor.Lost, CannotVerify, OSError):
                await self._standing(0)

    async def pause(self) -> None:
        """Stops the walls that stand; the next run lets its own go on."""
        for seed, wall in tuple(self._walls.items()):
            async with self._turn(seed):
                wall.supervisor.pause(on=True)

    async def close(self) -> None:
        """Takes every wall down; nothing is left on the host."""
        if self._learning is not None:
            self._learning.cancel()
            await asyncio.gather(self._learning, return_exceptions=True)
        await asyncio.gather(*(self._down(seed) for seed in tuple(self._walls)))
        await self._cold.close()

    def _turn(self, seed: int) -> asyncio.Lock:
        return self._turns.setdefault(seed, asyncio.Lock())

    # -- one run ----------------------------------------------------------------------------------------------------

    async def _once(self, run: Run, *, session: bool) -> Execution:
        seed = run.hash_seed
        try:
            _mounts.check(self._place.root, [*sorted(run.files), *run.without])
            searching = asyncio.ensure_future(asyncio.to_thread(self._search.now))  # while the wall is built
            wall = await self._standing(seed)
            hidden = await searching
            wall.runs += 1
            execution = await self._asked(wall, run, hidden, session=session and wall.session)
        except (ValueError, CannotVerify) as error:
            return Execution(broken=f"The sandbox cannot be laid out: {str(error).rstrip('.')}.")
        except (_supervisor.Lost, OSError) as error:
            await self._down(seed)
            return self._refused(str(error))
        except BaseException:
            await asyncio.shield(self._down(seed))
            raise
        if wall.runs >= RUNS or suspicious(execution):
            await self._down(seed)
        return execution

    async def _asked(self, wall: Wall, run: Run, hidden: _hidden.Hidden, *, session: bool) -> Execution:
        protocol = inside.protocol()
        key = secrets.token_bytes(32)
        request = _supervisor.request(
            self._place,
            run,
            key,
            files=run.files,
            session=session,
            wall=protocol.wall(hidden.files, hidden.folders),
            filters=_seccomp.program() or b"",
            count_processes=kernel() >= (5, 14),  # since then counted for each user namespace by itself
        )
        reply = await wall.supervisor.ask(request, "done", run.seconds + _supervisor.GRACE_SECONDS)
        return _supervisor.execution(reply, key)

    def _refused(self, problem: str) -> Execution:
        """The wall that stays may be impossible here, where one for each run is not: that is tried from then on."""
        if problem.startswith("The run's wall could not be made") or "could not be staged" in problem:
            log.warning("%s Each run gets a sandbox of its own, which takes longer.", problem)
            self._fallen = True
        return Execution(broken=problem)

    # -- walls ------------------------------------------------------------------------------------------------------

    async def _standing(self, seed: int) -> Wall:
        """The wall of this hash seed, as long as what it was built from is unchanged; else a new one."""
        stamp = await asyncio.to_thread(_stamp, self._place)
        wall = self._walls.get(seed)
        if wall is not None and (wall.stamp != stamp or wall.supervisor.ended):
            await self._down(seed)
            wall = None
        if wall is not None:
            wall.supervisor.pause(on=False)
        else:
            while len(self._walls) >= SEEDS:
                await self._down(next(iter(self._walls)))
            wall = await self._built(seed, stamp)
        return wall

    async def _built(self, seed: int, stamp: Stamp) -> Wall:
        descriptors: list[int] = []
        user: dict[str, Any] = {}
        if self._identity.drop and not self._program.staged:
            user = {"user": self._identity.uid, "group": self._identity.gid, "extra_groups": []}
        try:
            argv = self._argv(seed, descriptors)
            supervisor = await _supervisor.Supervisor.start(
                argv, title=_NAME, pass_fds=tuple(descriptors), env={}, cwd="/", **user
            )
            self._walls[seed] = wall = Wall(supervisor=supervisor, stamp=stamp)
            try:
                await supervisor.ready()
                await self._prepared(wall)
            except BaseException:
                await asyncio.shield(self._down(seed))
                raise
            return wall
        finally:
            for fd in descriptors:
                os.close(fd)

    def _argv(self, seed: int, descriptors: list[int]) -> list[str]:
        root = self._place.root
        staged = shown(root) if self._program.staged else None
        words = _mounts.resident(self._place, self._identity, hash_seed=seed, staged=staged)
        command = [str(self._place.environment.executable), "-s", "-B", f"{_mounts.INSIDE}/runner.py"]
        command += ["--alone", "--packages", f"{_mounts.INSIDE}/packages"]
        if not self._place.network and (addresses := _mounts.addresses()):
            command += ["--addresses", addresses]
        argv = [*open_words([self._program.path, *words], descriptors), *command]
        return staging(argv, root, self._identity, descriptors, files={}, disk=0) if staged else argv

    async def _prepared(self, wall: Wall) -> None:
        """A new wall gets what earlier ones have learnt."""
        self._learnt.about(wall.stamp[1:2])
        if self._learnt.useful:
            await self._prepare(wall, self._learnt.modules, trial=False)

    async def _down(self, seed: int) -> None:
        wall = self._walls.pop(seed, None)
        if wall is not None:
            await wall.supervisor.end()

    # -- learning ---------------------------------------------------------------------------------------------------

    async def _learn(self, run: Run, execution: Execution, before: asyncio.Task[None] | None) -> None:
        """After a run of the user's own code: imports what it needed, and tries whether the faster way agrees."""
        if before is not None:
            await asyncio.gather(before, return_exceptions=True)
        learnt = self._learnt
        new, rehearses = learnt.new(execution), learnt.rehearses(run, execution)
        if not new and not rehearses:
            return
        async with self._turn(0):
            wall = self._walls.get(0)
            if wall is None:
                return
            try:
                tries = await self._prepare(wall, new, trial=True) and wall.session and rehearses
                if tries and not await self._agrees(run, execution):
                    await self._down(0)
            except (_supervisor.Lost, OSError) as error:
                log.info("The sandbox could not be prepared (%s); it works without.", error)
                learnt.session = False
                await self._down(0)
            except BaseException:
                await asyncio.shield(self._down(0))
                raise

    async def _agrees(self, run: Run, execution: Execution) -> bool:
        """False where a pytest session opened before the fork surely comes to something else."""
        second = await self._once(rehearsal(run), session=True)
        if self._learnt.compared(run, execution, second):
            return True
        third = await self._once(rehearsal(run), session=False)
        return self._learnt.compared(run, third, second) or not self._learnt.refuted(execution, third)

    async def _prepare(self, wall: Wall, names: Sequence[str], *, trial: bool) -> bool:
        """False: the supervisor was spoilt by it and is ended. Raises `Lost`."""
        request = inside.protocol().prepare_request(
            str(self._place.root), names, rewritten=self._learnt.rewritten, trial=trial, session=self._learnt.session
        )
        reply = await wall.supervisor.ask(request, "prepared", PREPARING)
        wall.session = bool(reply["session"])
        if self._learnt.prepared(names, reply):
            return True
        for seed in [seed for seed, mine in self._walls.items() if mine is wall]:
            await self._down(seed)
        return False


def _stamp(place: Place) -> Stamp:
    """What a wall was built from, as far as a look tells: the folder itself, installed packages, configuration."""
    root = os.stat(place.root)  # noqa: PTH116 - one call among many
    libraries = sorted(place.environment.prefix.glob("lib*/python*/*-packages"))
    files = [place.root / name for name in CONFIGURATION]
    return ((root.st_dev, root.st_ino), tuple(map(_times, libraries)), tuple(map(_times, files)))


def _times(path: Path) -> tuple[int, int, int] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_ino, about.st_size
