"""A session in one hardened container: keeps the workspace in it up to date, runs, and survives what breaks."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from greenloop import inside
from greenloop.container import cargo, distribution
from greenloop.container.box import Box, Broken
from greenloop.container.engine import Engine
from greenloop.container.shape import Shape
from greenloop.core.errors import CannotVerify
from greenloop.core.nouns import Execution, Place, Run
from greenloop.locks import project
from greenloop.sandboxes import _seccomp
from greenloop.sandboxes._learning import PREPARING, Learnt, rehearsal, suspicious
from greenloop.sandboxes._supervisor import Lost, execution, request
from greenloop.sources import CONFIGURATION

log = logging.getLogger(__name__)
T = TypeVar("T")

NAME = "docker"
GRACE = 10.0  # seconds beyond a run's own limit after which the supervisor is taken for hung
WRITE_SECONDS = 60.0
KILL_SECONDS = 0.8  # a cancelled run gives control back within a second
LARGE = 2000  # files from which on looking for changes takes longer than a run
LOOKED = 3.0  # seconds that such a look holds
RUNS_KEPT = 200  # after so many runs a container makes room for a fresh one
SLACK = 8 << 20  # bytes that a small workspace may grow by before it needs another container
LEAST_UID, UIDS = 20_000, 40_000  # within what a rootless engine maps


# Not asyncio's own few threads: each session may hold one for as long as a run takes, and an end must never wait.
RUNNING = ThreadPoolExecutor(64, "greenloop-container")
ENDING = ThreadPoolExecutor(16, "greenloop-container-end")


def in_thread(work: Callable[..., T], *arguments: Any, pool: ThreadPoolExecutor = RUNNING) -> asyncio.Future[T]:
    """Runs blocking work beside the event loop."""
    return asyncio.get_running_loop().run_in_executor(pool, work, *arguments)


@dataclass(kw_only=True)
class Session:
    """An open container. A run that is cancelled or finds it broken ends it; the next run opens another one."""

    engine: Engine
    place: Place
    image: str
    runtime: str = ""
    name: str = NAME
    learnt: Learnt = field(default_factory=Learnt)
    _runs: int = 0
    _looked: float = 0.0
    _configured: tuple[object, ...] = ()
    _learning: asyncio.Task[None] | None = None
    _box: Box | None = None
    _laid: cargo.Cargo = field(default_factory=cargo.Cargo)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _abandoned: asyncio.Future[Execution] | None = None
    _background: set[asyncio.Future[None]] = field(default_factory=set)

    async def run(self, run: Run) -> Execution:
        """Runs once. Never raises for what a candidate, the container or the engine does; cancelling kills the tree."""
        async with self._turn:
            await self._settled()
            stop = threading.Event()
            work = in_thread(self._run, run, stop.is_set)
            try:
                execution = await asyncio.shield(work)
            except asyncio.CancelledError:
                stop.set()
                await self._abandon(work)
                raise
        if run.baseline and run.hash_seed == 0 and not execution.broken:
            self._learning = asyncio.create_task(self._learn(run, execution, self._learning))
        return execution

    async def _learn(self, run: Run, execution: Execution, before: asyncio.Task[None] | None) -> None:
        """After a run of the user's own code, before the next run."""
        if before is not None:
            await asyncio.gather(before, return_exceptions=True)
        async with self._turn:
            await self._settled()
            work = in_thread(self._study, run, execution)
            try:
                await asyncio.shield(work)
            except asyncio.CancelledError:
                self._abandoned = asyncio.ensure_future(_as_run(work))
                raise

    async def warm(self) -> None:
        """Starts the supervisor and lays the workspace down."""
        async with self._turn:
            await self._settled()
            with contextlib.suppress(Broken, Lost, CannotVerify, OSError):
                await in_thread(self.prepare, 0)

    async def close(self) -> None:
        """Removes the container; returns when it is gone."""
        if self._learning is not None:
            self._learning.cancel()
        box, self._box = self._box, None
        if box is not None:
            self._start(in_thread(box.close, pool=ENDING))
        await self._settled()
        await in_thread(self.end)
        if self._background:
            await asyncio.shield(asyncio.gather(*self._background, return_exceptions=True))
        await in_thread(self.engine.client.close)

    async def pause(self) -> None:
        """Pauses the container until the next run, which does not notice. Does nothing while there is none to pause."""
        async with self._turn:
            await self._settled()
            if self._box is not None:
                await in_thread(self._pause)

    async def _abandon(self, work: asyncio.Future[Execution]) -> None:
        """Kills the container and waits for that, but not for an engine that hangs."""
        self._abandoned = work
        box, self._box = self._box, None
        if box is None:
            return  # it is still being opened: nothing of the candidate's has begun, and `stop` keeps it from beginning
        killing = in_thread(box.kill, pool=ENDING)
        await asyncio.wait([killing], timeout=KILL_SECONDS)
        self._start(in_thread(box.close, pool=ENDING))

    async def _settled(self) -> None:
        """Waits until the thread of a cancelled run has let go of this session."""
        work, self._abandoned = self._abandoned, None
        if work is not None:
            await asyncio.wait([work])

    def _start(self, work: asyncio.Future[None]) -> None:
        self._background.add(work)
        work.add_done_callback(self._background.discard)

    # -- blocking, in threads ---------------------------------------------------------------------------------------

    def stand(self) -> tuple[Box, cargo.Cargo]:
        """The container, and the workspace as it is on the disk now.

        A large workspace is looked through every few seconds only: an accepting run has a container of its own.
        Raises `Broken`, and `CannotVerify` for a workspace that is too large.
        """
        now = self._laid
        if self._box is None or len(now.files) < LARGE or time.monotonic() - self._looked > LOOKED:
            now = cargo.scan(self.place.root, self.place.masked)
            self._looked = time.monotonic()
        if self._box is not None and (self._box.ended or self._outdated(now) or self._runs >= RUNS_KEPT):
            self.end()
        if self._box is None:
            self._laid, self._runs = cargo.Cargo(), 0
            self._box = Box.open(self.engine, self._shape(now.memory))
            self._compare_versions(tuple(self._box.hello["python"][:2]))
        return self._box, now

    def prepare(self, hash_seed: int) -> Box:
        """The container with a supervisor of this hash seed and the workspace laid down. Raises as `stand` does."""
        box, now = self.stand()
        box.resume()
        configured = tuple(now.files.get(name) for name in CONFIGURATION)
        fresh = box.supervise(hash_seed, anew=box.session and configured != self._configured)
        self._lay(box, now)
        if fresh:
            self._configured = configured
            self.learnt.about((self.image,))
            if self.learnt.useful and not self._taught(box, self.learnt.modules, trial=False):
                return self.prepare(hash_seed)
        return box

    def _taught(self, box: Box, names: Sequence[str], *, trial: bool) -> bool:
        """Imports packages and opens a pytest session before the fork. False: the box was spoilt by it and is gone."""
        request = inside.protocol().prepare_request(
            box.shape.root,
            names,
            rewritten=self.learnt.rewritten,
            trial=trial,
            session=self.learnt.session,
            environ=_environ(box),
        )
        reply = box.ask(request, PREPARING)
        if reply["kind"] != "prepared":
            raise Broken(str(reply.get("reason") or f"The supervisor said {reply['kind']!r}."))
        box.session = bool(reply["session"])
        if self.learnt.prepared(names, reply):
            return True
        self.learnt.modules, self.learnt.rewritten = [], []
        self.end()
        return False

    def _study(self, run: Run, execution: Execution) -> None:
        """Learns from a run of the user's own code; whatever goes wrong, the session works without."""
        try:
            new, rehearses = self.learnt.new(execution), self.learnt.rehearses(run, execution)
            if not new and not rehearses:
                return
            if not self._taught(self.prepare(0), new, trial=True) or self._box is None or not self._box.session:
                return
            if rehearses and not self._agrees(run, execution):
                self.end()
        except (Broken, Lost, CannotVerify, OSError, inside.protocol().ProtocolError) as problem:
            log.info("The sandbox could not be prepared (%s); it works without.", problem)
            self.learnt.session = False
            self.end()

    def _agrees(self, run: Run, execution: Execution) -> bool:
        """False where a pytest session opened before the fork surely comes to something else."""
        second = self.once(rehearsal(run), session=True)
        if self.learnt.compared(run, execution, second):
            return True
        third = self.once(rehearsal(run), session=False)
        return self.learnt.compared(run, third, second) or not self.learnt.refuted(execution, third)

    def _outdated(self, now: cargo.Cargo) -> bool:
        """Must the container go? What was deleted on the host must not stay importable, and memory is set once."""
        assert self._box is not None
        deleted = self._laid.files.keys() - now.files.keys() or self._laid.folders - now.folders
        return bool(deleted) or now.memory > 2 * self._box.shape.cargo

    def _lay(self, box: Box, now: cargo.Cargo) -> None:
        """Sends what changed since. Raises `Broken`."""
        changed = [path for path, stamp in now.files.items() if self._laid.files.get(path) != stamp]
        executable = [path for path in changed if now.files[path].executable]
        folders = sorted(now.folders - self._laid.folders)
        empty: list[dict[str, bytes]] = [{}] if folders else []
        for files in itertools.chain(empty, cargo.load(self.place.root, changed)):
            request = inside.protocol().write_request(
                box.shape.root,
                files,
                executable=[path for path in executable if path in files],
                folders=() if files else folders,
            )
            answer = box.ask(request, WRITE_SECONDS)
            if answer["kind"] != "written":
                raise Broken(str(answer.get("reason") or "The workspace could not be laid down."))
        self._laid = now

    def once(self, run: Run, stop: Callable[[], bool] = bool, *, session: bool = False) -> Execution:
        """One run in the prepared container; `session`: try the faster way. Raises `Broken`, `Lost`, `CannotVerify`."""
        if run.baseline:  # what the user has just saved counts, whatever the size
            self._looked = 0.0
        box = self.prepare(run.hash_seed)
        if stop():
            raise Broken("The run was cancelled.")
        key = secrets.token_bytes(32)
        session = box.session and (session or self.learnt.fits(run))
        done = box.ask(_request(box, self.place, run, key, session=session), run.seconds + GRACE)
        if done["kind"] != "done":
            raise Broken(str(done.get("reason") or f"The supervisor said {done['kind']!r}."))
        self._runs += 1
        result = execution(done, key)
        if done.get("dirty") or suspicious(result):
            self.end()
        return result

    def end(self) -> None:
        """Removes the container, if there is one."""
        box, self._box = self._box, None
        if box is not None:
            box.close()

    def _pause(self) -> None:
        try:
            if self._box is not None and not self._box.ended:
                self._box.pause()
        except Broken as problem:
            log.info("%s", problem)
            self.end()

    def _run(self, run: Run, stop: Callable[[], bool]) -> Execution:
        try:
            return self.once(run, stop)
        except (Broken, Lost, CannotVerify, OSError, inside.protocol().ProtocolError) as problem:
            self.end()
            return Execution(broken=str(problem))

    def _compare_versions(self, found: tuple[int, ...]) -> None:
        wanted = self.place.environment.version
        if found != wanted:
            text = "The image %s has Python %s, the project %s: a test may fail for that alone."
            log.warning(text, self.image, ".".join(map(str, found)), ".".join(map(str, wanted)))

    def _shape(self, memory: int) -> Shape:
        place = self.place
        return Shape(
            image=self.image,
            root=inside_path(place.root),
            limits=place.limits,
            network=place.network,
            variables=place.variables,
            cargo=max(memory, SLACK),
            runtime=self.runtime,
            project=project.read(place.root),
        )


async def _as_run(work: asyncio.Future[None]) -> Execution:
    """A thread that is waited for like a run's."""
    await work
    return Execution()


def inside_path(root: Path) -> str:
    """The workspace's path in the container: its own, so that nothing that depends on paths differs."""
    return str(root) if os.name == "posix" else f"/workspace/{root.name}"


def _environ(box: Box) -> dict[str, str]:
    path = distribution.path(box.shape.project, box.shape.root)
    return {"PYTHONPATH": path} if path else {}


def _request(box: Box, place: Place, run: Run, key: bytes, *, session: bool) -> dict[str, Any]:
    return request(
        place,
        run,
        key,
        files=run.files,
        root=box.shape.root,
        environ=_environ(box),
        session=session,
        uid=LEAST_UID + secrets.randbelow(UIDS),  # whoever it is, nobody else's processes count against its limit
        # Beside the engine's own: what no limit of a container sees in time, such as files in memory without a name.
        filters=_seccomp.program(str(box.ready.get("machine", ""))) or b"",
        count_processes=True,
    )
