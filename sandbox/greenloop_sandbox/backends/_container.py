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
from typing import Any, TypeVar

from greenloop_sandbox import payload
from greenloop_sandbox.backends import _seccomp
from greenloop_sandbox.backends._supervisor import SupervisorError, read_execution, run_request
from greenloop_sandbox.backends._warmup import PREPARE_SECONDS, WarmSession, Warmup, is_suspicious
from greenloop_sandbox.container import project_metadata, upload
from greenloop_sandbox.container.connection import ContainerConnection, ContainerError
from greenloop_sandbox.container.engine import Engine
from greenloop_sandbox.container.hardening import ContainerConfig
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.locks import project
from greenloop_sandbox.pytest_files import CONFIGURATION
from greenloop_sandbox.records import Execution, SandboxSpec, TestRun

log = logging.getLogger(__name__)
T = TypeVar("T")

NAME = "docker"
GRACE_SECONDS = 10.0  # seconds beyond a run's own limit after which the supervisor counts as hung
WRITE_SECONDS = 60.0
KILL_SECONDS = 0.8  # a cancelled run returns within a second
LARGE_WORKSPACE = 2000  # from this many files on, looking for changes takes longer than a run
SCAN_VALID_SECONDS = 3.0  # seconds for which a scan of a large workspace stays valid
MAX_RUNS = 200  # after this many runs a container is replaced
SPARE_BYTES = 8 << 20  # bytes that a small workspace may grow before it needs another container
MIN_UID, UID_COUNT = 20_000, 40_000  # within what a rootless engine maps


# Not asyncio's own few threads: each session may hold one for as long as a run takes, and closing must never wait.
RUN_THREADS = ThreadPoolExecutor(64, "greenloop-container")
CLOSE_THREADS = ThreadPoolExecutor(16, "greenloop-container-end")


def in_thread(work: Callable[..., T], *arguments: Any, pool: ThreadPoolExecutor = RUN_THREADS) -> asyncio.Future[T]:
    """Runs blocking work in a thread."""
    return asyncio.get_running_loop().run_in_executor(pool, work, *arguments)


@dataclass(kw_only=True)
class ContainerSession(WarmSession):
    """An open container. A run that is cancelled or finds it broken removes it; the next run opens another one."""

    engine: Engine
    spec: SandboxSpec
    image: str
    runtime: str = ""
    name: str = NAME
    warmup: Warmup = field(default_factory=Warmup)
    _runs: int = 0
    _scanned_at: float = 0.0
    _configuration_stamps: tuple[object, ...] = ()
    _connection: ContainerConnection | None = None
    _uploaded: upload.WorkspaceUpload = field(default_factory=upload.WorkspaceUpload)
    _one_run: asyncio.Lock = field(default_factory=asyncio.Lock)
    _abandoned: asyncio.Future[Any] | None = None
    _background: set[asyncio.Future[None]] = field(default_factory=set)

    failures = (ContainerError, SupervisorError, CannotVerifyError, OSError, payload.protocol().ProtocolError)

    def _lock(self, seed: int) -> asyncio.Lock:  # noqa: ARG002 - there is one container
        return self._one_run

    async def _run_once(self, run: TestRun, *, prepared_session: bool) -> Execution:
        stop_event = threading.Event()
        return await self._work(stop_event, self.run_once, run, stop_event.is_set, prepared_session)

    async def _prepare(self, names: Sequence[str]) -> bool:
        return await self._work(threading.Event(), self._prepare_session, names)

    async def _discard(self) -> None:
        await in_thread(self.end)

    async def _work(self, stop_event: threading.Event, work: Callable[..., T], *arguments: Any) -> T:
        """Does blocking work in a thread; cancelling it kills the container."""
        await self._await_abandoned()
        future = in_thread(work, *arguments)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            stop_event.set()
            await self._abandon(future)
            raise

    async def warm(self) -> None:
        """Starts the supervisor and uploads the workspace."""
        async with self._one_run:
            await self._await_abandoned()
            with contextlib.suppress(*self.failures):
                await in_thread(self.prepare, 0)

    async def close(self) -> None:
        """Removes the container; returns when it is gone."""
        await self._stop_learning()
        connection, self._connection = self._connection, None
        if connection is not None:
            self._close_in_background(connection)
        await self._await_abandoned()
        await in_thread(self.end)
        if self._background:
            await asyncio.shield(asyncio.gather(*self._background, return_exceptions=True))
        await in_thread(self.engine.client.close)

    async def pause(self) -> None:
        """Pauses the container until the next run, which resumes it. Does nothing without a container."""
        async with self._one_run:
            await self._await_abandoned()
            if self._connection is not None:
                await in_thread(self._pause)

    async def _abandon(self, work: asyncio.Future[Any]) -> None:
        """Kills the container and waits for it, but not for an engine that hangs."""
        self._abandoned = work
        connection, self._connection = self._connection, None
        if connection is None:
            return  # still being opened: the candidate has not started, and `should_stop` keeps it from starting
        await asyncio.wait([self._close_in_background(connection)], timeout=KILL_SECONDS)

    async def _await_abandoned(self) -> None:
        """Waits until the thread of a cancelled run has released this session."""
        work, self._abandoned = self._abandoned, None
        if work is not None:
            await asyncio.wait([work])

    def _close_in_background(self, connection: ContainerConnection) -> asyncio.Future[None]:
        work = in_thread(connection.close, pool=CLOSE_THREADS)
        self._background.add(work)
        work.add_done_callback(self._background.discard)
        return work

    # -- blocking, in threads ---------------------------------------------------------------------------------------

    def ensure_container(self) -> tuple[ContainerConnection, upload.WorkspaceUpload]:
        """Returns the container, started if necessary, and the workspace as it is on disk now.

        A large workspace is scanned only every few seconds; that suffices, because an accepting run has its own
        container. Raises `ContainerError`, and `CannotVerifyError` for a workspace that is too large.
        """
        scanned = self._uploaded
        if (
            self._connection is None
            or len(scanned.files) < LARGE_WORKSPACE
            or time.monotonic() - self._scanned_at > SCAN_VALID_SECONDS
        ):
            scanned = upload.scan(self.spec.root, self.spec.masked)
            self._scanned_at = time.monotonic()
        if self._connection is not None and (
            self._connection.has_ended or self._is_outdated(scanned) or self._runs >= MAX_RUNS
        ):
            self.end()
        if self._connection is None:
            self._uploaded, self._runs = upload.WorkspaceUpload(), 0
            self._connection = ContainerConnection.open(self.engine, self._shape(scanned.memory))
            actual, expected = tuple(self._connection.hello["python"][:2]), self.spec.environment.version
            if actual != expected:
                text = "The image %s has Python %s, the project %s: a test may fail for that alone."
                log.warning(text, self.image, ".".join(map(str, actual)), ".".join(map(str, expected)))
        return self._connection, scanned

    def prepare(self, hash_seed: int) -> ContainerConnection:
        """Returns the container with a supervisor of this hash seed and the workspace. Raises as `ensure_container`."""
        connection, scanned = self.ensure_container()
        connection.resume()
        configuration_stamps = tuple(scanned.files.get(name) for name in CONFIGURATION)
        is_new = connection.supervise(
            hash_seed, restart=connection.session and configuration_stamps != self._configuration_stamps
        )
        self._upload(connection, scanned)
        if is_new:
            self._configuration_stamps = configuration_stamps
            self.warmup.reset_if_changed((self.image,))
            if self.warmup.is_useful and not self._send_prepare(connection, self.warmup.modules, trial=False):
                return self.prepare(hash_seed)
        return connection

    def _send_prepare(self, connection: ContainerConnection, names: Sequence[str], *, trial: bool) -> bool:
        """Sends a prepare request. False: it spoilt the supervisor, and the container was removed."""
        config = connection.config
        environ = project_metadata.environ(config.project, config.root)
        request = self.warmup.request(self.spec, names, trial=trial, root=config.root, environ=environ)
        reply = connection.ask(request, "prepared", PREPARE_SECONDS)
        connection.session = bool(reply["session"])
        if self.warmup.record_prepared(names, reply):
            return True
        self.warmup.modules, self.warmup.rewritten = [], []
        self.end()
        return False

    def _prepare_session(self, names: Sequence[str]) -> bool:
        is_usable = self._send_prepare(self.prepare(0), names, trial=True)
        return is_usable and self._connection is not None and self._connection.session

    def _is_outdated(self, current: upload.WorkspaceUpload) -> bool:
        """True if the container must be replaced: deleted files must not stay importable, and its memory is fixed."""
        assert self._connection is not None
        deleted = self._uploaded.files.keys() - current.files.keys() or self._uploaded.folders - current.folders
        return bool(deleted) or current.memory > 2 * self._connection.config.upload_bytes

    def _upload(self, connection: ContainerConnection, current: upload.WorkspaceUpload) -> None:
        """Sends the files that changed since the last upload. Raises `ContainerError`."""
        changed = [path for path, stamp in current.files.items() if self._uploaded.files.get(path) != stamp]
        executable = [path for path in changed if current.files[path].executable]
        folders = sorted(current.folders - self._uploaded.folders)
        empty: list[dict[str, bytes]] = [{}] if folders else []
        for files in itertools.chain(empty, upload.read_batches(self.spec.root, changed)):
            request = payload.protocol().write_request(
                connection.config.root,
                files,
                executable=[path for path in executable if path in files],
                folders=() if files else folders,
            )
            connection.ask(request, "written", WRITE_SECONDS)
        self._uploaded = current

    def run_once(
        self, run: TestRun, should_stop: Callable[[], bool] = bool, prepared_session: bool = False
    ) -> Execution:
        """Runs once in the prepared container, which a failure ends; `prepared_session`: in its pytest session."""
        try:
            return self._run_prepared(run, should_stop, prepared_session)
        except self.failures as problem:
            self.end()
            return Execution(broken=str(problem))

    def _run_prepared(self, run: TestRun, should_stop: Callable[[], bool], prepared_session: bool) -> Execution:
        if run.baseline:  # what the user has just saved counts, whatever the size of the workspace
            self._scanned_at = 0.0
        connection = self.prepare(run.hash_seed)
        if should_stop():
            raise ContainerError("The run was cancelled.")
        key = secrets.token_bytes(32)
        request = _request(connection, self.spec, run, key, session=prepared_session and connection.session)
        reply = connection.ask(request, "done", (run.seconds + GRACE_SECONDS) * payload.protocol().load())
        self._runs += 1
        result = read_execution(reply, key)
        if reply.get("dirty") or is_suspicious(result):
            self.end()
        return result

    def end(self) -> None:
        """Removes the container, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _pause(self) -> None:
        try:
            if self._connection is not None and not self._connection.has_ended:
                self._connection.pause()
        except ContainerError as problem:
            log.info("%s", problem)
            self.end()

    def _shape(self, memory: int) -> ContainerConfig:
        place = self.spec
        return ContainerConfig(
            image=self.image,
            # The same as on the host, so that nothing that depends on paths differs.
            root=str(place.root) if os.name == "posix" else f"/workspace/{place.root.name}",
            limits=place.limits,
            network=place.network,
            variables=place.variables,
            upload_bytes=max(memory, SPARE_BYTES),
            runtime=self.runtime,
            project=project.read_project(place.root),
        )


def _request(
    connection: ContainerConnection, spec: SandboxSpec, run: TestRun, key: bytes, *, session: bool
) -> dict[str, Any]:
    config = connection.config
    return run_request(
        spec,
        run,
        key,
        files=run.files,
        root=config.root,
        environ=project_metadata.environ(config.project, config.root),
        session=session,
        uid=MIN_UID + secrets.randbelow(UID_COUNT),  # random, so that no other process counts against its limit
        # In addition to the engine's own: what a container's limits see too late, such as unnamed files in memory.
        filters=_seccomp.program(str(connection.ready.get("machine", ""))) or b"",
        count_processes=True,
    )
