"""How the wall is started: descriptors for content, and as root the staging by a user who is not root."""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from greenloop.sandboxes import _identity, _mounts, _stage

_SPARE = (1_900_010_001, 64_321, 10_001)  # user ids for tests when we are root: the first that may be used


def someone(root: Path) -> _identity.Identity:
    """Ourselves; where we are root the owner of this folder, or where that is root too a user who does not exist."""
    if os.getuid() != 0:
        return _identity.Identity(uid=os.getuid(), gid=os.getgid())
    owner = root.stat()
    if owner.st_uid != 0:
        return _identity.Identity(uid=owner.st_uid, gid=owner.st_gid or _nobody("gid"), drop=True)
    return _identity.Identity(uid=_nobody("uid"), gid=_nobody("gid"), drop=True)


def _nobody(kind: str) -> int:
    """A user or group id that nobody has and that may be used in our own user namespace."""
    ranges = [[int(word) for word in line.split()] for line in Path(f"/proc/self/{kind}_map").read_text().splitlines()]
    return next((wanted for wanted in _SPARE if any(low <= wanted < low + size for low, _, size in ranges)), 65534)


def open_words(words: Sequence[_mounts.Word], descriptors: list[int]) -> list[str]:
    """The words with content replaced by the number of a descriptor to read it from; those are added to the list."""
    return [str(_descriptor(word, descriptors)) if isinstance(word, bytes) else word for word in words]


def _descriptor(data: bytes, descriptors: list[int]) -> int:
    fd = os.memfd_create("greenloop")
    descriptors.append(fd)
    with open(fd, "wb", closefd=False) as stream:
        stream.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


# -- as root -------------------------------------------------------------------------------------------


def laid(root: Path) -> list[_mounts.Word]:
    """The words that show a staged workspace with its throw-away layer."""
    return ["--bind", f"{_stage.STAGE}/workspace", str(root)]


def shown(root: Path) -> list[_mounts.Word]:
    """The words that show a staged workspace without a layer."""
    return ["--ro-bind", f"{_stage.STAGE}/workspace", str(root)]


def staging(
    argv: Sequence[str],
    root: Path,
    identity: _identity.Identity,
    descriptors: list[int],
    *,
    files: Mapping[str, bytes],
    disk: int,
) -> list[str]:
    """The command that lays everything out as root, becomes the identity and then turns into `argv`.

    `disk` (bytes) is the size of the workspace's throw-away layer; 0: none, the workspace is shown itself.
    """
    binds: dict[str, str] = {}
    staged = list(argv)
    for number, word in enumerate(argv[:-1], 1):
        source = argv[number]
        if word not in ("--ro-bind", "--ro-bind-try") or _is_open(source, identity):
            continue
        if source == f"{_stage.STAGE}/workspace":
            continue
        if os.path.lexists(source):
            staged[number] = f"{_stage.STAGE}/{binds.setdefault(source, f'source/{len(binds)}')}"
    if not _is_open(argv[0], identity):
        # A wheel's program finds its library by its own place: both move together.
        package = Path(argv[0]).parents[1]
        for path in (package, package.with_name(f"{package.name}.libs")):
            if path.exists():
                binds[str(path)] = f"program/{path.name}"
        staged[0] = f"{_stage.STAGE}/program/{package.name}/{Path(argv[0]).relative_to(package)}"
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
    fd = _descriptor(marshal.dumps(plan), descriptors)  # read by this very interpreter
    return [sys.executable, "-I", "-S", _stage.__file__, str(fd)]


def _is_open(path: str, identity: _identity.Identity) -> bool:
    return not path.startswith(_stage.STAGE + "/") and _identity.reachable(path, identity)
