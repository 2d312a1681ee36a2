"""Connects to a cluster of Ray; nothing else imports Ray, and this does when a cluster is first needed.

It must not know what runs on the cluster.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import greenloop
import greenloop_lab
import greenloop_sandbox
from greenloop.core.errors import CannotVerifyError, GreenloopError, UsageError

log = logging.getLogger(__name__)

WORD = "ray"
SCHEME = "ray://"
PORT = 6379  # of `ray start --head`
CONNECT_SECONDS = 5.0
START_REMEDY = "Start one: `ray start --head` here, and `ray start --address=HOST:6379` on the other machines."


def parse_address(text: str) -> str:
    """The address in `ray` (empty: the cluster of this machine) or `ray://HOST[:PORT]`. Raises `UsageError`."""
    if text == WORD:
        return ""
    host, colon, port = text.removeprefix(SCHEME).partition(":")
    if not text.startswith(SCHEME) or not host or "/" in text.removeprefix(SCHEME) or (colon and not _is_port(port)):
        raise UsageError(
            f"'{text}' is not a cluster.",
            remedy="Write `--on ray` for the Ray cluster that this machine belongs to, or `--on ray://HOST:PORT`.",
        )
    return f"{host}:{port or PORT}"


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text) < 1 << 16


def connect(address: str) -> Any:
    """Ray's module, connected to the cluster with this address (empty: that of this machine). Blocking.

    A process has one connection; a second call returns it. Raises `CannotVerifyError` with the remedy.
    """
    try:
        import ray  # noqa: PLC0415 - an optional library that takes a second to load
        import ray.exceptions  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != WORD:
            raise
        raise CannotVerifyError("Ray is not installed.", remedy='Install it: pip install "./lab[ray]"') from error
    if ray.is_initialized():
        return ray
    if address:
        _check_reachable(address)
    try:
        with _undisturbed():
            ray.init(
                address=address or "auto", log_to_driver=False, logging_level=logging.CRITICAL, configure_logging=True
            )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise explain_refusal(address, error) from error
    # Ray prints what happens to nodes to standard output, which is the caller's own, and has no setting for that.
    ray._private.worker.print_to_stdstream = _log_message  # noqa: SLF001
    return ray


@cache
def identity() -> str:
    """The version of this greenloop, and a hash of its source, the sandbox's and the laboratory's.

    Only nodes with the same one give comparable results.
    """
    digest = hashlib.sha256()
    for package in (greenloop, greenloop_sandbox, greenloop_lab):
        folder = Path(str(package.__file__)).parent
        for file in sorted(folder.rglob("*.py")):
            digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return f"{greenloop.__version__} ({digest.hexdigest()[:8]})"


def describe_difference(address: str, found: str, expected: str) -> tuple[str, str]:
    """The sentence, and its remedy, about a node whose greenloop is another one."""
    return (
        f"The node {address} has greenloop {found}, and this machine has {expected}.",
        "Install the same greenloop for the Python that runs `ray start` on every node, and start the nodes again.",
    )


def explain_fault(error: Exception) -> GreenloopError:
    """Explains a fault on a node outside of greenloop's own errors, above all a missing greenloop."""
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, ModuleNotFoundError) and (cause.name or "").partition(".")[0] in (
        "greenloop",
        "greenloop_lab",
    ):
        return CannotVerifyError(
            "A node of the cluster has no greenloop, or another one.",
            remedy='Install the same one on every node: pip install "./lab[ray]", for the Python of `ray start`.',
        )
    lines = [line for line in str(cause).splitlines() if line.strip()]
    return GreenloopError(
        f"A node failed: {lines[-1].strip() if lines else type(cause).__name__}",
        remedy="See Ray's logs on that node.",
    )


def explain_refusal(address: str, error: Exception) -> CannotVerifyError:
    """Returns why Ray refused the connection, and what to do."""
    text = str(error).strip()
    reason = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    if "version mismatch" in text.lower():
        return CannotVerifyError(
            "The cluster runs another Ray or another Python than this machine.",
            remedy="Install the same versions of both on every node.",
        )
    if not address and isinstance(error, ConnectionError):
        return CannotVerifyError("This machine belongs to no Ray cluster.", remedy=START_REMEDY)
    if address:
        return CannotVerifyError(
            f"The Ray cluster at {address} cannot be used from here: {reason}",
            remedy=f"Make this machine a node of it: `ray start --address={address} --num-cpus=0`. The port is that of "
            f"`ray start --head` ({PORT}), not that of the Ray Client.",
        )
    return CannotVerifyError(f"The Ray cluster cannot be used: {reason}", remedy=START_REMEDY)


def _log_message(data: Mapping[str, Any], **_options: Any) -> None:
    log.debug("%s", "\n".join(map(str, data.get("lines", ()))))


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Keeps what connecting would change: the handler of SIGTERM, how errors are printed, and what nodes may import.

    Ray asks the cluster before it prints an error, for a minute where that is gone. It also adds the current folder to
    the path of imports of every node, and a workspace is not trusted.
    """
    handler, hook, folder = signal.getsignal(signal.SIGTERM), sys.excepthook, Path.cwd()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.chdir(Path(sys.executable).parent)
    try:
        yield
    finally:
        os.chdir(folder)
        sys.excepthook = hook
        with contextlib.suppress(ValueError):  # not in the main thread, where Ray changes nothing either
            signal.signal(signal.SIGTERM, handler)


def _check_reachable(address: str) -> None:
    """Raises `CannotVerifyError` where nothing listens; Ray itself would try for a long time."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        raise CannotVerifyError(
            f"No Ray cluster answers at {address}: {error.strerror or error}.",
            remedy=f"Name the head of a cluster, with the port of `ray start --head` ({PORT}). {START_REMEDY}",
        ) from error
