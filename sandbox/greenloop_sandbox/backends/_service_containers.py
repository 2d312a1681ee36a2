"""Starts a service from an image of Docker or podman: two containers that share a network that leads nowhere.

The first one holds that network and passes connections on (inside/relay.py). No image is pulled: a workspace may name
it, and only the user decides what comes from a registry.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path

from greenloop_sandbox import payload
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.records import Service

HARDENED = (
    "--rm", "--pull=never", "--log-driver=none", "--no-healthcheck", "--cap-drop=ALL",
    "--security-opt=no-new-privileges", "--pids-limit=512", "--memory=2g",
)  # fmt: skip
PYTHON = os.path.realpath(sys.executable)
SYSTEM = [path for path in dict.fromkeys(("/usr", "/lib", "/lib64", sys.base_prefix)) if Path(path).is_dir()]
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID")  # images give their data to a user of their own


async def start_container(service: Service) -> tuple[Process, Process, int, int]:
    """Starts a service; returns its process and the one that holds its network, and the host's pids of both containers.

    Closing the holder's standard input ends all. Raises `CannotVerifyError` where the engine or the image is missing.
    """
    engine = shutil.which("docker") or shutil.which("podman") or "docker"
    if problem := (await _ask(engine, "image", "inspect", "--", service.image))[1]:
        raise CannotVerifyError(
            f"The image {service.image} of `sandbox.services` cannot be used ({problem.splitlines()[-1]}).",
            remedy=f"Get it with `{Path(engine).name} pull {service.image}`; greenloop never pulls images.",
        )
    name = f"greenloop-{os.getpid()}-{secrets.token_hex(8)}"
    holder, pid = await _run(
        engine, name, "--interactive", "--network=none", "--tmpfs=/service:mode=1777",
        f"--user={os.getuid()}:{os.getgid()}", *(f"--volume={path}:{path}:ro" for path in SYSTEM),
        f"--entrypoint={PYTHON}", service.image, "-I", "-c", (payload.folder() / "relay.py").read_text("utf-8"),
        str(service.inside),
    )  # fmt: skip
    try:
        process, server = await _run(
            engine, f"{name}-server", f"--network=container:{name}", f"--pid=container:{name}",
            *(f"--cap-add={each}" for each in CAPABILITIES), *(f"--env={each}" for each in service.variables),
            service.image,
        )  # fmt: skip
    except BaseException:
        _end(holder)
        raise
    return process, holder, pid, server


async def _run(engine: str, name: str, *arguments: str) -> tuple[Process, int]:
    """Starts a container; returns its process and, unless it ends at once, the host's pid of what runs in it."""
    command = (engine, "run", f"--name={name}", *HARDENED, *arguments)
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, start_new_session=True
    )
    pid = 0
    try:
        while not pid and process.returncode is None:
            pid = int((await _ask(engine, "inspect", "--format={{.State.Pid}}", name))[0] or 0)
    except BaseException:
        _end(process)
        raise
    return process, pid


def _end(process: Process) -> None:
    if process.stdin is not None:
        process.stdin.close()


async def _ask(engine: str, *arguments: str) -> tuple[str, str]:
    """Returns the engine's answer, and its complaint where it refuses."""
    try:
        process = await asyncio.create_subprocess_exec(engine, *arguments, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    except OSError as error:
        return "", str(error)
    answer, complaint = await process.communicate()
    return answer.decode().strip(), complaint.decode().strip() if process.returncode else ""
