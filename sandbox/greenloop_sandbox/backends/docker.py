"""Runs tests in a container engine: Docker or podman, here or on another machine (`DOCKER_HOST`).

Each session has one hardened container whose supervisor forks a worker for each run.
The SDK is imported when an engine is first needed, never with this module, and all its calls happen in threads.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import shutil
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop_sandbox import os_release
from greenloop_sandbox.backends import _services
from greenloop_sandbox.backends._container import NAME, ContainerSession, in_thread
from greenloop_sandbox.backends._container_check import self_test
from greenloop_sandbox.backends._warmup import Warmup
from greenloop_sandbox.container import base, image
from greenloop_sandbox.container.connection import ContainerError
from greenloop_sandbox.container.engine import Engine, error_line, remove_orphans
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.ports import SelectionSettings
from greenloop_sandbox.records import Probe, SandboxSpec

log = logging.getLogger(__name__)

PROBE_SECONDS = 10
CALL_SECONDS = 30
IMAGE_SECONDS = 600

START_REMEDY = "Start the engine: `systemctl start docker` (or `dockerd &` as root)."
SPACE_REMEDY = "Free space on the engine's disk: `docker system df` shows what takes it."
TLS_REMEDY = (
    "Check DOCKER_HOST; with TLS, set DOCKER_TLS_VERIFY=1, and DOCKER_CERT_PATH to a folder with ca.pem, cert.pem and "
    "key.pem of that engine."
)
SSH_REMEDY = (
    "Check DOCKER_HOST with `ssh HOST docker version`, which must ask for no password; "
    "`pip install paramiko` if it is missing."
)
GROUP_REMEDY = "Join the group docker: `sudo usermod -aG docker $USER`, then log in again."


def create(settings: SelectionSettings) -> DockerSandbox:
    """Makes the back end; it connects to nothing before `probe` or `open`."""
    return DockerSandbox(image=settings.image, runtime=settings.runtime)


def plan_image(engine: Engine, version: tuple[int, int]) -> str:
    """Says how the first use gets an image with this Python. Raises `CannotVerifyError` if it cannot."""
    if present := base.find(engine, version):
        return f"pytest is added to {present} at first use"
    try:
        if engine.name != "podman":  # it does not answer this question
            engine.client.images.get_registry_data(base.official_image(version))
    except engine.errors as error:
        raise CannotVerifyError(
            f"{engine.name} {engine.version}, but no image: the registry does not answer ({error_line(error)})",
            remedy=base.missing_remedy(version),
        ) from error
    return "its image is pulled at first use"


@dataclass(kw_only=True)
class DockerSandbox:
    """Container engines. `image` and `runtime` are the user's; empty: greenloop's own image, the engine's runtime."""

    image: str = ""
    runtime: str = ""
    name: str = NAME
    report_status: Callable[[str], None] = log.info  # reports progress while an image is built
    warmups: dict[Path, Warmup] = field(default_factory=dict)  # by workspace

    async def probe(self) -> Probe:
        """Checks for an engine and for an image or a way to get one. The self-test runs at the first opening."""
        try:
            detail, image_name = await asyncio.to_thread(self._probe)
        except CannotVerifyError as problem:
            return Probe(name=NAME, ok=False, detail=str(problem), remedy=problem.remedy)
        return Probe(name=NAME, ok=True, detail=detail, image=image_name)

    async def open(self, spec: SandboxSpec) -> ContainerSession:
        """Opens a session whose container is running and has the workspace in it.

        The very first call builds the image, which takes minutes; cancelling stops that.
        Raises `CannotVerifyError` with the remedy.
        """
        _services.refuse(spec, '`sandbox.kind = "docker"`')
        stop = threading.Event()
        work = in_thread(self._open, spec, stop.is_set)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            work.add_done_callback(_close_late_session)
            raise

    def _probe(self) -> tuple[str, str]:
        """Details for the user, and an available image. Raises `CannotVerifyError`."""
        engine = connect(PROBE_SECONDS)
        engine_name = f"{engine.name} {engine.version}"
        try:
            usable = self._find_image(engine)
        except engine.errors as error:
            raise CannotVerifyError(
                f"{engine_name} does not answer: {error_line(error)}", remedy=START_REMEDY
            ) from error
        if usable:
            return f"{engine_name}, image {usable}", usable
        if self.image:
            return f"{engine_name}; the image {self.image} will be pulled at first use", ""
        return f"{engine_name}; {plan_image(engine, sys.version_info[:2])}", ""

    def _find_image(self, engine: Engine) -> str:
        """The name of an image that is present and usable, or empty."""
        if self.image:
            return self.image if base.has_image(engine, self.image) else ""
        names = [tag for existing in engine.client.images.list(name=image.REPOSITORY) for tag in existing.tags]
        return min(names, default="")

    def _open(self, spec: SandboxSpec, should_stop: Callable[[], bool]) -> ContainerSession:
        engine = connect(CALL_SECONDS)
        remove_orphans(engine)
        try:
            image_name = self._ensure_image(engine, spec, should_stop)
            complaint = self_test(engine, image_name, spec.limits, self.runtime)
        except engine.errors as error:
            is_disk_full = "no space left" in error_line(error).lower()
            raise CannotVerifyError(
                f"{engine.name} failed: {error_line(error)}", remedy=SPACE_REMEDY if is_disk_full else START_REMEDY
            ) from error
        if complaint:
            raise CannotVerifyError(
                f"The Docker sandbox failed its self-test: {complaint}", remedy="Run `greenloop doctor`."
            )
        title = f"{NAME} with network" if spec.network else NAME  # part of every result
        warmup = self.warmups.setdefault(spec.root, Warmup())
        session = ContainerSession(
            engine=engine, spec=spec, image=image_name, runtime=self.runtime, name=title, warmup=warmup
        )
        try:
            session.ensure_container()
        except ContainerError as problem:
            session.end()
            raise CannotVerifyError(
                f"No container can be used: {problem}", remedy="Run `greenloop doctor`."
            ) from problem
        if should_stop():
            session.end()
        return session

    def _ensure_image(self, engine: Engine, spec: SandboxSpec, should_stop: Callable[[], bool]) -> str:
        named = spec.image or self.image
        if not named:
            # Importing and committing take longer than other calls may.
            slow_engine = connect(IMAGE_SECONDS)
            try:
                return image.ensure_image(slow_engine, spec, report_status=self.report_status, should_stop=should_stop)
            finally:
                slow_engine.client.close()
        if not base.has_image(engine, named):
            self.report_status(f"pulling {named}")
            refusal = base.pull(engine, named, should_stop)
            if refusal:
                raise CannotVerifyError(
                    f"The image {named} (`sandbox.image`) does not exist here and cannot be pulled: {refusal}",
                    remedy="Build or load it, or unset `sandbox.image`: greenloop then builds its own.",
                )
        return named


# -- the connection ---------------------------------------------------------------------------------------------


def connect(seconds: float) -> Engine:
    """Connects to the engine of DOCKER_HOST, else to the first usual socket that answers; `seconds` limits every call.

    Raises `CannotVerifyError` with the remedy.
    """
    try:
        import docker  # noqa: PLC0415 - only when an engine is needed
        import urllib3  # noqa: PLC0415
        from docker.errors import DockerException  # noqa: PLC0415
    except ImportError as error:
        raise CannotVerifyError(
            f"The Docker SDK cannot be imported ({error}).", remedy="`pip install docker`."
        ) from error
    errors = (DockerException, OSError, urllib3.exceptions.HTTPError)
    try:
        if os.environ.get("DOCKER_HOST") or os.name != "posix":
            client = _client_class(docker).from_env(version="auto", timeout=seconds)
        else:
            client = docker.DockerClient(base_url=f"unix://{_find_socket()}", version="auto", timeout=seconds)
        version = client.version()
    except errors as error:
        host = os.environ.get("DOCKER_HOST", "")
        source = host or "The Docker engine"
        raise CannotVerifyError(
            f"{source} does not answer: {error_line(error)}", remedy=_remote_remedy(host) or START_REMEDY
        ) from error
    parts = [part.get("Name", "") for part in version.get("Components") or ()]
    name = "podman" if any("podman" in part.lower() for part in parts) else "Docker"
    return Engine(client=client, errors=errors, name=name, version=str(version.get("Version", "?")))


def _client_class(docker: Any) -> Any:
    """The SDK's client, which believes the certificates of DOCKER_CERT_PATH alone.

    Without this, REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE replace them, and no engine with its own authority is believed.
    """

    class Api(docker.APIClient):  # type: ignore[misc]  # the SDK has no types
        def merge_environment_settings(self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any) -> Any:
            verify = self.verify if verify is None else verify
            return super().merge_environment_settings(url, proxies, stream, verify, cert)

    class Client(docker.DockerClient):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            self.api = Api(*arguments, **options)

    return Client


def _remote_remedy(host: str) -> str:
    """Returns the remedy for an engine on another machine; empty for one of this machine."""
    if host.startswith("ssh://"):
        return SSH_REMEDY
    return TLS_REMEDY if host.startswith(("tcp://", "http://", "https://")) else ""


def _close_late_session(work: asyncio.Future[ContainerSession]) -> None:
    """Removes the container of an `open` that was cancelled but finished all the same."""
    if not work.cancelled() and work.exception() is None:
        threading.Thread(target=work.result().end, daemon=True).start()


def _connect(path: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(3)
        probe.connect(path)


def _find_socket(connect: Callable[[str], None] = _connect) -> str:
    """Returns the first socket that accepts a connection. Raises `CannotVerifyError` with the most useful reason."""
    problems: dict[str, OSError] = {}
    for path in _socket_paths():
        try:
            connect(path)
        except OSError as error:
            problems[path] = error
        else:
            return path
    for path, problem in problems.items():
        if problem.errno in (errno.EACCES, errno.EPERM):
            raise CannotVerifyError(f"No permission to connect to the engine at {path}.", remedy=GROUP_REMEDY)
    is_there = any(problem.errno != errno.ENOENT for problem in problems.values())
    if is_there or shutil.which("dockerd") or shutil.which("docker"):
        raise CannotVerifyError("Docker is installed, but its engine is not running.", remedy=START_REMEDY)
    install = os_release.install_command("docker", apt="docker.io", dnf="moby-engine")
    raise CannotVerifyError("Neither Docker nor podman is installed.", remedy=f"Install one: {install}, then start it.")


def _socket_paths() -> list[str]:
    runtime, home = os.environ.get("XDG_RUNTIME_DIR"), Path.home()
    own = [f"{runtime}/docker.sock", f"{runtime}/podman/podman.sock"] if runtime else []
    desktop = [f"{home}/.docker/run/docker.sock", f"{home}/.colima/default/docker.sock"]
    return ["/var/run/docker.sock", *own, "/run/podman/podman.sock", *desktop]
