"""Tests behind the wall of a container engine: Docker or podman, here or on another machine (`DOCKER_HOST`).

One hardened container for each session; the supervisor in it forks a worker for each run.
The SDK is imported when an engine is first asked for, never with this module, and all its calls happen in threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import os
import secrets
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop import inside
from greenloop.container import base, cargo, image
from greenloop.container.box import Box, Broken, Shape
from greenloop.container.engine import Engine, boot, is_missing, sentence, sweep
from greenloop.container.selftest import FILES, SELECTORS, complaint
from greenloop.core.errors import CannotVerify
from greenloop.core.nouns import Execution, Limits, Place, Probe, Run
from greenloop.settings import Settings, cache_folder

log = logging.getLogger(__name__)

NAME = "docker"
GRACE = 10.0  # seconds beyond a run's own limit after which the supervisor is taken for hung
WRITE_SECONDS = 60.0
KILL_SECONDS = 0.8  # a cancelled run gives control back within a second
PROBE_SECONDS = 10
CALL_SECONDS = 60
IMAGE_SECONDS = 600


def create(settings: Settings) -> DockerSandbox:
    """The back end; nothing is connected before `probe` or `open`."""
    return DockerSandbox(image=settings.sandbox.image)


@dataclass(frozen=True, kw_only=True)
class DockerSandbox:
    """Container engines. `image` is the user's own, or empty for the one that greenloop makes."""

    image: str = ""
    name: str = NAME

    async def probe(self) -> Probe:
        """Is an engine there, and an image, or a way to one? The self-test runs at the first opening."""
        try:
            return await asyncio.to_thread(self._look)
        except CannotVerify as problem:
            return Probe(name=NAME, ok=False, detail=str(problem), remedy=problem.remedy)

    async def open(self, place: Place) -> Session:
        """A session whose container is up and has the workspace in it.

        The first one ever makes the image, which takes minutes; cancelling stops that.
        Raises `CannotVerify` with the remedy.
        """
        stop = threading.Event()
        work = asyncio.ensure_future(asyncio.to_thread(self._open, place, stop.is_set))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            work.add_done_callback(_close_unwanted)
            raise

    def _look(self) -> Probe:
        engine = connect(PROBE_SECONDS)
        about = f"{engine.name} {engine.version}"
        try:
            found = self._images(engine)
        except engine.errors as error:
            raise CannotVerify(f"{about} does not answer: {sentence(error)}", remedy=START_REMEDY) from error
        if found:
            return Probe(name=NAME, ok=True, detail=f"{about}, image {found}")
        if self.image:
            return Probe(name=NAME, ok=True, detail=f"{about}; the image {self.image} will be pulled when first used")
        wanted = sys.version_info[:2]
        obstacle = base.cannot_make(wanted)
        if not obstacle:
            return Probe(name=NAME, ok=True, detail=f"{about}; its image is made when first used (about two minutes)")
        try:
            engine.client.images.get_registry_data(base.official(wanted))
        except engine.errors as error:
            return Probe(
                name=NAME,
                ok=False,
                detail=f"{about} is there, but no image: the registry does not answer ({sentence(error)}) and {obstacle}",
                remedy=f"Bring an image in with `docker load` or `docker pull {base.official(wanted)}`.",
            )
        return Probe(name=NAME, ok=True, detail=f"{about}; its image is pulled when first used")

    def _images(self, engine: Engine) -> str:
        """The name of an image that is there and will do, or empty."""
        if self.image:
            return self.image if base.has(engine, self.image) else ""
        names = [tag for found in engine.client.images.list(name=image.REPOSITORY) for tag in found.tags]
        return min(names, default="")

    def _open(self, place: Place, stop: Callable[[], bool]) -> Session:
        engine = connect(CALL_SECONDS)
        sweep(engine)
        try:
            name = self._image(engine, place, stop)
            passed = _self_test(engine, name, place.limits)
        except engine.errors as error:
            raise CannotVerify(f"{engine.name} failed: {sentence(error)}", remedy=START_REMEDY) from error
        if passed:
            raise CannotVerify(f"The Docker sandbox failed its self-test: {passed}", remedy="Run `greenloop doctor`.")
        session = Session(engine=engine, place=place, image=name)
        try:
            session.start(0)
        except Broken as problem:
            raise CannotVerify(f"No container can be used: {problem}", remedy="Run `greenloop doctor`.") from problem
        if stop():
            session.end()
        return session

    def _image(self, engine: Engine, place: Place, stop: Callable[[], bool]) -> str:
        wanted = place.image or self.image
        if not wanted:
            if base.has(engine, image.name(place.environment.version)):
                return image.name(place.environment.version)
            # Importing and committing take longer than a container's calls may.
            patient = connect(IMAGE_SECONDS)
            try:
                return image.ensure(patient, place.environment.version, stop=stop)
            finally:
                patient.client.close()
        if not base.has(engine, wanted):
            log.info("pulling %s", wanted)
            refusal = base.pull(engine, wanted, stop)
            if refusal:
                raise CannotVerify(
                    f"The image {wanted} of `sandbox.image` is not there and cannot be pulled: {refusal}",
                    remedy="Build or load it, or unset `sandbox.image`: greenloop then makes its own.",
                )
        return wanted


@dataclass(kw_only=True)
class Session:
    """An open container. A run that is cancelled or finds it broken ends it; the next run opens another one."""

    engine: Engine
    place: Place
    image: str
    name: str = NAME
    _box: Box | None = None
    _laid: dict[str, cargo.Stamp] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _closing: set[asyncio.Future[None]] = field(default_factory=set)

    async def run(self, run: Run) -> Execution:
        """Runs once. Never raises for what a candidate, the container or the engine does; cancelling kills the tree."""
        async with self._turn:
            work = asyncio.ensure_future(asyncio.to_thread(self._run, run))
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                await self._abandon(work)
                raise

    async def close(self) -> None:
        """Removes the container."""
        if self._box is not None:
            self._in_background(self._drop(self._box))
            self._box = None
        if self._closing:
            await asyncio.shield(asyncio.gather(*self._closing, return_exceptions=True))
        await asyncio.to_thread(self.engine.client.close)

    async def _abandon(self, work: asyncio.Future[Execution]) -> None:
        """Kills the container and waits for that, but not for an engine that hangs."""
        box, self._box = self._box, None
        work.add_done_callback(_retrieve)
        if box is None:
            work.add_done_callback(lambda _: self._end_late())
            return
        killing = asyncio.ensure_future(asyncio.to_thread(box.kill))
        await asyncio.wait([killing], timeout=KILL_SECONDS)
        self._in_background(self._drop(box))

    def _end_late(self) -> None:
        """The run was cancelled while its container was being opened."""
        box, self._box = self._box, None
        if box is not None:
            self._in_background(self._drop(box))

    async def _drop(self, box: Box) -> None:
        await asyncio.to_thread(box.close)

    def _in_background(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    # -- in threads -------------------------------------------------------------------------------------------------

    def start(self, hash_seed: int) -> Box:
        """The container with a supervisor of this hash seed and the workspace as it is on the disk now.

        Raises `Broken`, and `CannotVerify` for a workspace that is too large.
        """
        now = cargo.scan(self.place.root, self.place.masked)
        if self._box is not None and (self._box.ended or self._laid.keys() - now.keys()):
            self._end_box()  # what was deleted on the host must not stay importable
        if self._box is None:
            self._laid = {}
            self._box = Box.open(self.engine, self._shape())
        box = self._box
        box.supervise(hash_seed)
        changed = [path for path, stamp in now.items() if self._laid.get(path) != stamp]
        for files in cargo.load(self.place.root, changed):
            answer = box.ask(inside.protocol().write_request(box.shape.root, files), WRITE_SECONDS)
            if answer["kind"] != "written":
                raise Broken(str(answer.get("reason") or "The workspace could not be laid down."))
        self._laid = now
        return box

    def end(self) -> None:
        """Removes the container, from whatever thread."""
        self._end_box()

    def _end_box(self) -> None:
        box, self._box = self._box, None
        if box is not None:
            box.close()

    def _shape(self) -> Shape:
        place = self.place
        return Shape(
            image=self.image,
            root=inside_path(place.root),
            limits=place.limits,
            network=place.network,
            variables=place.variables,
        )

    def _run(self, run: Run) -> Execution:
        wire = inside.protocol()
        key = secrets.token_bytes(32)
        try:
            box = self.start(run.hash_seed)
            done = box.ask(self._request(box, run, key), run.seconds + GRACE)
            if done["kind"] != "done":
                raise Broken(str(done.get("reason") or f"The supervisor said {done['kind']!r}."))
            return _execution(done, wire.open_report(done["report"], key, whole=not done["killed"]))
        except (Broken, CannotVerify, wire.ProtocolError) as problem:
            self._end_box()
            return Execution(broken=str(problem))
        except (KeyError, TypeError, ValueError) as problem:
            self._end_box()
            return Execution(broken=f"The sandbox said something that makes no sense ({type(problem).__name__}: {problem}).")

    def _request(self, box: Box, run: Run, key: bytes) -> dict[str, Any]:
        limits = self.place.limits
        request: dict[str, Any] = inside.protocol().run_request(
            key=key,
            root=box.shape.root,
            selectors=run.selectors,
            seconds=run.seconds,
            memory=limits.memory,
            disk=limits.disk,
            output=limits.output,
            processes=limits.processes,
            collect=run.collect,
            trace=run.trace,
            files=run.files,
            uid=box.uid,
            count_processes=True,
        )
        return request


def _execution(done: Any, records: Sequence[Any]) -> Execution:
    return Execution(
        records=tuple(records),
        status=done["status"],
        killed=str(done["killed"]),
        output=str(done["output"]),
        leftover=int(done["leftover"]),
        seconds=float(done["seconds"]),
    )


def _retrieve(work: asyncio.Future[Any]) -> None:
    """Nobody awaits it any more; what it raised is only worth a line."""
    if not work.cancelled() and work.exception() is not None:
        log.debug("A cancelled run ended with %r.", work.exception())


def _close_unwanted(work: asyncio.Future[Session]) -> None:
    """`open` was cancelled, and its thread came to an end all the same."""
    if not work.cancelled() and work.exception() is None:
        threading.Thread(target=work.result().end, daemon=True).start()


def inside_path(root: Path) -> str:
    """The workspace's path in the container: its own, so that nothing that depends on paths differs."""
    return str(root) if os.name == "posix" else f"/workspace/{root.name}"


# -- the self-test ----------------------------------------------------------------------------------------------


def _self_test(engine: Engine, name: str, limits: Limits) -> str:
    """What is wrong with the wall (empty: nothing), tried once per boot, engine and image."""
    key = "|".join([boot(), engine.name, engine.version, engine.client.images.get(name).id])
    file = cache_folder() / "docker-selftest.json"
    with contextlib.suppress(OSError, ValueError):
        if key in json.loads(file.read_text(encoding="utf-8")):
            return ""
    with _folder() as root:
        problem = _tried(engine, name, root, limits)
    if not problem:
        with contextlib.suppress(OSError):
            file.write_text(json.dumps([key]), encoding="utf-8")
    return problem


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="greenloop-selftest-") as folder:
        root = Path(folder).resolve()
        for path, text in FILES.items():
            (root / path).write_text(text, encoding="utf-8")
        yield root


def _tried(engine: Engine, name: str, root: Path, limits: Limits) -> str:
    from greenloop.core.nouns import Environment
    environment = Environment(
        executable=Path(sys.executable), prefix=Path(sys.prefix), base=Path(sys.base_prefix),
        version=sys.version_info[:2], source="", has_pytest=True,
    )
    session = Session(engine=engine, place=Place(root=root, environment=environment, limits=limits), image=name)
    try:
        box = session.start(0)
        run = Run(selectors=SELECTORS, seconds=30.0)
        key = secrets.token_bytes(32)
        done = box.ask(session._request(box, run, key), run.seconds + GRACE)
        if done["kind"] != "done":
            return str(done.get("reason"))
        return complaint(_execution(done, inside.protocol().open_report(done["report"], key, whole=not done["killed"])))
    except Broken as problem:
        return str(problem)
    finally:
        session.end()


# -- the connection ---------------------------------------------------------------------------------------------

START_REMEDY = "Start the engine: `systemctl start docker` (or `dockerd &` as root)."
INSTALL_REMEDY = "Install one: `apt-get install docker.io` (or podman), then start it."
GROUP_REMEDY = "Join the group docker: `sudo usermod -aG docker $USER`, then log in again."


def connect(seconds: float) -> Engine:
    """The engine of DOCKER_HOST, else the first of the usual sockets that answers; `seconds` bounds every call.

    Raises `CannotVerify` with the one remedy.
    """
    try:
        import docker  # noqa: PLC0415 - only when an engine is asked for
        import urllib3  # noqa: PLC0415
        from docker.errors import DockerException  # noqa: PLC0415
    except ImportError as error:
        raise CannotVerify(f"The Docker SDK cannot be imported ({error}).", remedy="`pip install docker`.") from error
    errors = (DockerException, OSError, urllib3.exceptions.HTTPError)
    try:
        if os.environ.get("DOCKER_HOST") or os.name != "posix":
            client = docker.from_env(version="auto", timeout=seconds)
        else:
            client = docker.DockerClient(base_url=f"unix://{_socket()}", version="auto", timeout=seconds)
        version = client.version()
    except errors as error:
        where = os.environ.get("DOCKER_HOST", "The Docker engine")
        raise CannotVerify(f"{where} does not answer: {sentence(error)}", remedy=START_REMEDY) from error
    parts = [part.get("Name", "") for part in version.get("Components") or ()]
    name = "podman" if any("podman" in part.lower() for part in parts) else "Docker"
    return Engine(client=client, errors=errors, name=name, version=str(version.get("Version", "?")))


def _socket() -> str:
    """The first socket that lets itself be connected to. Raises `CannotVerify` for the best of the reasons."""
    problems: dict[str, OSError] = {}
    for path in _sockets():
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(3)
            try:
                probe.connect(path)
            except OSError as error:
                problems[path] = error
            else:
                return path
    for path, error in problems.items():
        if error.errno in (errno.EACCES, errno.EPERM):
            raise CannotVerify(f"No permission to talk to the engine at {path}.", remedy=GROUP_REMEDY)
    if any(error.errno != errno.ENOENT for error in problems.values()) or shutil.which("dockerd") or shutil.which("docker"):
        raise CannotVerify("Docker is installed, but its engine is not running.", remedy=START_REMEDY)
    raise CannotVerify("Neither Docker nor podman is installed.", remedy=INSTALL_REMEDY)


def _sockets() -> list[str]:
    found = ["/var/run/docker.sock"]
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        found += [f"{runtime}/docker.sock", f"{runtime}/podman/podman.sock"]
    home = Path.home()
    found += ["/run/podman/podman.sock", str(home / ".docker/run/docker.sock"), str(home / ".colima/default/docker.sock")]
    return found
