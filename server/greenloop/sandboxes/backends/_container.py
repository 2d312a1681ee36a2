"""A session in one hardened container: updates its workspace, runs tests, replaces it on failure."""

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

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.sandbox import Execution, SandboxSpec, TestRun
from greenloop.project.locks import project
from greenloop.project.sources import CONFIGURATION
from greenloop.sandboxes import payload
from greenloop.sandboxes.backends import _seccomp
from greenloop.sandboxes.backends._supervisor import Lost, execution, request
from greenloop.sandboxes.backends._warmup import PREPARING, Learnt, rehearsal, suspicious
from greenloop.sandboxes.container import os_release, upload
from greenloop.sandboxes.container.connection import Box, Broken
from greenloop.sandboxes.container.engine import Engine
from greenloop.sandboxes.container.hardening import Shape

log = logging.getLogger(__name__)
T = TypeVar("T")

NAME = "docker"
GRACE = 10.0  # seconds beyond a run's own limit after which the supervisor counts as hung
WRITE_SECONDS = 60.0
KILL_SECONDS = 0.8  # a cancelled run returns within a second
LARGE = 2000  # from this many files on, looking for changes takes longer than a run
LOOKED = 3.0  # seconds for which a scan of a large workspace stays valid
RUNS_KEPT = 200  # after this many runs a container is replaced
SLACK = 8 << 20  # bytes that a small workspace may grow before it needs another container
LEAST_UID, UIDS = 20_000, 40_000  # within what a rootless engine maps


# Not asyncio's own few threads: each session may hold one for as long as a run takes, and closing must never wait.
RUNNING = ThreadPoolExecutor(64, "greenloop-container")
ENDING = ThreadPoolExecutor(16, "greenloop-container-end")


def in_thread(work: Callable[..., T], *arguments: Any, pool: ThreadPoolExecutor = RUNNING) -> asyncio.Future[T]:
    """Runs blocking work in a thread."""
    return asyncio.get_running_loop().run_in_executor(pool, work, *arguments)


@dataclass(kw_only=True)
class Session:
    """An open container. A run that is cancelled or finds it broken removes it; the next run opens another one."""

    engine: Engine
    place: SandboxSpec
    image: str
    runtime: str = ""
    name: str = NAME
    learnt: Learnt = field(default_factory=Learnt)
    _runs: int = 0
    _looked: float = 0.0
    _configured: tuple[object, ...] = ()
    _learning: asyncio.Task[None] | None = None
    _box: Box | None = None
    _laid: upload.Cargo = field(default_factory=upload.Cargo)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _abandoned: asyncio.Future[Execution] | None = None
    _background: set[asyncio.Future[None]] = field(default_factory=set)

    async def run(self, run: TestRun) -> Execution:
        """Runs once. Never raises for what a candidate, the container or the engine does; cancelling kills the run."""
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

    async def _learn(self, run: TestRun, execution: Execution, before: asyncio.Task[None] | None) -> None:
        """Learns from a run of the user's own code, before the next run."""
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
        """Starts the supervisor and uploads the workspace."""
        async with self._turn:
            await self._settled()
            with contextlib.suppress(Broken, Lost, CannotVerifyError, OSError):
                await in_thread(self.prepare, 0)

    async def close(self) -> None:
        """Removes the container; returns when it is gone."""
        if self._learning is not None:
            self._learning.cancel()
        connection, self._box = self._box, None
        if connection is not None:
            self._start(in_thread(connection.close, pool=ENDING))
        await self._settled()
        await in_thread(self.end)
        if self._background:
            await asyncio.shield(asyncio.gather(*self._background, return_exceptions=True))
        await in_thread(self.engine.client.close)

    async def pause(self) -> None:
        """Pauses the container until the next run, which resumes it. Does nothing without a container."""
        async with self._turn:
            await self._settled()
            if self._box is not None:
                await in_thread(self._pause)

    async def _abandon(self, work: asyncio.Future[Execution]) -> None:
        """Kills the container and waits for it, but not for an engine that hangs."""
        self._abandoned = work
        connection, self._box = self._box, None
        if connection is None:
            return  # still being opened: the candidate has not started, and `should_stop` keeps it from starting
        killing = in_thread(connection.kill, pool=ENDING)
        await asyncio.wait([killing], timeout=KILL_SECONDS)
        self._start(in_thread(connection.close, pool=ENDING))

    async def _settled(self) -> None:
        """Waits until the thread of a cancelled run has released this session."""
        work, self._abandoned = self._abandoned, None
        if work is not None:
            await asyncio.wait([work])

    def _start(self, work: asyncio.Future[None]) -> None:
        self._background.add(work)
        work.add_done_callback(self._background.discard)

    # -- blocking, in threads ---------------------------------------------------------------------------------------

    def stand(self) -> tuple[Box, upload.Cargo]:
        """Returns the container, started if necessary, and the workspace as it is on disk now.

        A large workspace is scanned only every few seconds; that suffices, because an accepting run has its own
        container. Raises `ContainerError`, and `CannotVerifyError` for a workspace that is too large.
        """
        scanned = self._laid
        if self._box is None or len(scanned.files) < LARGE or time.monotonic() - self._looked > LOOKED:
            scanned = upload.scan(self.place.root, self.place.masked)
            self._looked = time.monotonic()
        if self._box is not None and (self._box.ended or self._outdated(scanned) or self._runs >= RUNS_KEPT):
            self.end()
        if self._box is None:
            self._laid, self._runs = upload.Cargo(), 0
            self._box = Box.open(self.engine, self._shape(scanned.memory))
            self._compare_versions(tuple(self._box.hello["python"][:2]))
        return self._box, scanned

    def prepare(self, hash_seed: int) -> Box:
        """Returns the container with a supervisor of this hash seed and the workspace. Raises as `ensure_container`."""
        connection, scanned = self.stand()
        connection.resume()
        configuration_stamps = tuple(scanned.files.get(name) for name in CONFIGURATION)
        is_new = connection.supervise(hash_seed, anew=connection.session and configuration_stamps != self._configured)
        self._lay(connection, scanned)
        if is_new:
            self._configured = configuration_stamps
            self.learnt.about((self.image,))
            if self.learnt.useful and not self._taught(connection, self.learnt.modules, trial=False):
                return self.prepare(hash_seed)
        return connection

    def _taught(self, box: Box, names: Sequence[str], *, trial: bool) -> bool:
        """Sends a prepare request. False: it spoilt the supervisor, and the container was removed."""
        request = payload.protocol().prepare_request(
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

    def _study(self, run: TestRun, execution: Execution) -> None:
        """Learns from a run of the user's own code; when that fails, the session works without."""
        try:
            packages, can_rehearse = self.learnt.new(execution), self.learnt.rehearses(run, execution)
            if not packages and not can_rehearse:
                return
            if not self._taught(self.prepare(0), packages, trial=True) or self._box is None or not self._box.session:
                return
            if can_rehearse and not self._agrees(run, execution):
                self.end()
        except (Broken, Lost, CannotVerifyError, OSError, payload.protocol().ProtocolError) as problem:
            log.info("The sandbox could not be prepared (%s); it works without.", problem)
            self.learnt.session = False
            self.end()

    def _agrees(self, run: TestRun, execution: Execution) -> bool:
        """False where a pytest session opened before the fork certainly gives other outcomes."""
        with_session = self.once(rehearsal(run), session=True)
        if self.learnt.compared(run, execution, with_session):
            return True
        repeated = self.once(rehearsal(run), session=False)
        return self.learnt.compared(run, repeated, with_session) or not self.learnt.refuted(execution, repeated)

    def _outdated(self, now: upload.Cargo) -> bool:
        """Whether the container must be replaced: deleted files must not stay importable, and its memory is fixed."""
        assert self._box is not None
        deleted = self._laid.files.keys() - now.files.keys() or self._laid.folders - now.folders
        return bool(deleted) or now.memory > 2 * self._box.shape.cargo

    def _lay(self, box: Box, now: upload.Cargo) -> None:
        """Sends the files that changed since the last upload. Raises `ContainerError`."""
        changed = [path for path, stamp in now.files.items() if self._laid.files.get(path) != stamp]
        executable = [path for path in changed if now.files[path].executable]
        folders = sorted(now.folders - self._laid.folders)
        empty: list[dict[str, bytes]] = [{}] if folders else []
        for files in itertools.chain(empty, upload.load(self.place.root, changed)):
            request = payload.protocol().write_request(
                box.shape.root,
                files,
                executable=[path for path in executable if path in files],
                folders=() if files else folders,
            )
            answer = box.ask(request, WRITE_SECONDS)
            if answer["kind"] != "written":
                raise Broken(str(answer.get("reason") or "The workspace could not be laid down."))
        self._laid = now

    def once(self, run: TestRun, stop: Callable[[], bool] = bool, *, session: bool = False) -> Execution:
        """Runs once in the prepared container; `session`: in a prepared pytest session.

        Raises `ContainerError`, `SupervisorError`, `CannotVerifyError`.
        """
        if run.baseline:  # what the user has just saved counts, whatever the size of the workspace
            self._looked = 0.0
        connection = self.prepare(run.hash_seed)
        if stop():
            raise Broken("The run was cancelled.")
        key = secrets.token_bytes(32)
        session = connection.session and (session or self.learnt.fits(run))
        reply = connection.ask(_request(connection, self.place, run, key, session=session), run.seconds + GRACE)
        if reply["kind"] != "done":
            raise Broken(str(reply.get("reason") or f"The supervisor said {reply['kind']!r}."))
        self._runs += 1
        result = execution(reply, key)
        if reply.get("dirty") or suspicious(result):
            self.end()
        return result

    def end(self) -> None:
        """Removes the container, if there is one."""
        connection, self._box = self._box, None
        if connection is not None:
            connection.close()

    def _pause(self) -> None:
        try:
            if self._box is not None and not self._box.ended:
                self._box.pause()
        except Broken as problem:
            log.info("%s", problem)
            self.end()

    def _run(self, run: TestRun, stop: Callable[[], bool]) -> Execution:
        try:
            return self.once(run, stop)
        except (Broken, Lost, CannotVerifyError, OSError, payload.protocol().ProtocolError) as problem:
            self.end()
            return Execution(broken=str(problem))

    def _compare_versions(self, found: tuple[int, ...]) -> None:
        expected = self.place.environment.version
        if found != expected:
            text = "The image %s has Python %s, the project %s: a test may fail for that alone."
            log.warning(text, self.image, ".".join(map(str, found)), ".".join(map(str, expected)))

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
    """Wraps the work of a thread so that it can be awaited like a run's."""
    await work
    return Execution()


def inside_path(root: Path) -> str:
    """The workspace's path in the container: the same as on the host, so that nothing that depends on paths differs."""
    return str(root) if os.name == "posix" else f"/workspace/{root.name}"


def _environ(box: Box) -> dict[str, str]:
    path = os_release.path(box.shape.project, box.shape.root)
    return {"PYTHONPATH": path} if path else {}


def _request(box: Box, place: SandboxSpec, run: TestRun, key: bytes, *, session: bool) -> dict[str, Any]:
    return request(
        place,
        run,
        key,
        files=run.files,
        root=box.shape.root,
        environ=_environ(box),
        session=session,
        uid=LEAST_UID + secrets.randbelow(UIDS),  # random, so that no other process counts against its limit
        # In addition to the engine's own: what a container's limits see too late, such as unnamed files in memory.
        filters=_seccomp.program(str(box.ready.get("machine", ""))) or b"",
        count_processes=True,
    )
