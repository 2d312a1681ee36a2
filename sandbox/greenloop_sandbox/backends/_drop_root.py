"""Prepares mounts as root for an unprivileged user, becomes that user and executes bubblewrap.

    python -I -S _drop_root.py PLAN_FD

A script that is started by path. Standard library only.
The plan, encoded with `marshal`, has `uid`, `gid`; `binds` [[source, name]]; `workspace` (absolute path), `files`
{relative path: fd}, `own` (the workspace's files must be given to the user), `bytes` (size of the throw-away layer,
0: none); `argv`.
In a mount namespace of its own it hides the host's /tmp under a small file system and binds each source there under its
name. The workspace becomes an overlay whose upper layer is in memory; or, without a layer, it is shown unchanged,
with root's files appearing as the user's (an id-mapped mount). Nothing of this is visible or left outside.
"""

# Plain strings: it starts without site-packages, once for each run.
# ruff: noqa: PTH101, PTH102, PTH103, PTH116, PTH120, PTH123

from __future__ import annotations

import ctypes
import marshal
import os
import stat
import struct
import sys

# Each import delays the first result of a cold sandbox.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STAGE = "/tmp"  # noqa: S108 (always there; hidden in this process's own mount namespace only)
_CLONE_NEWNS = 0x00020000
_NOSUID, _NODEV, _BIND, _REC, _PRIVATE = 2, 4, 4096, 16384, 1 << 18
_NOT_GIVEN = frozenset({".git", ".venv", "node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache", ".ruff_cache"})
_MOST = 20_000  # entries visited; the rest keep their owner
# The same numbers on every architecture.
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_HERE, _CLONE_TREE, _CLOEXEC, _RECURSIVE = -100, 1, 0o2000000, 0x8000
_EMPTY_PATH, _FROM_EMPTY_PATH, _IDMAP, _CLONE_NEWUSER = 0x1000, 4, 0x00100000, 0x10000000
_LIBC = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Executes bubblewrap; returns only by an exception."""
    with os.fdopen(int(sys.argv[1]), "rb") as stream:
        plan = marshal.loads(stream.read())  # noqa: S302 - written by greenloop itself a moment ago
    if _LIBC.unshare(_CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "a mount namespace of its own")
    mount("none", "/", "", _REC | _PRIVATE)
    # Opened before /tmp is hidden, because they may lie below it, and after the switch of namespace, which owns mounts.
    workspace = os.open(plan["workspace"], os.O_PATH)
    sources = [(os.open(source, os.O_PATH), name) for source, name in plan["binds"]]
    mount("tmpfs", STAGE, "tmpfs", _NOSUID | _NODEV, "mode=0755,size=1m")
    for source, name in sources:
        target = f"{STAGE}/{name}"
        if stat.S_ISDIR(os.fstat(source).st_mode):
            os.makedirs(target)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
        mount(f"/proc/self/fd/{source}", target, "", _BIND | _REC)
    if plan["bytes"]:
        lay_workspace(plan, workspace)
    else:
        show_workspace(plan, workspace)
    os.chdir("/")
    os.setgroups([])
    os.setresgid(plan["gid"], plan["gid"], plan["gid"])
    os.setresuid(plan["uid"], plan["uid"], plan["uid"])
    os.execve(plan["argv"][0], plan["argv"], {})  # noqa: S606 (no shell is wanted)


def lay_workspace(plan: dict[str, Any], workspace: int) -> None:
    """Mounts the overlay at STAGE/workspace, writes the run's files into it, and makes it usable by the plan's user."""
    layer, root = f"{STAGE}/layer", f"{STAGE}/workspace"
    os.mkdir(layer, 0o700)
    os.mkdir(root)
    mount("tmpfs", layer, "tmpfs", _NOSUID | _NODEV, f"mode=0700,size={plan['bytes']},nr_inodes=200k")
    os.mkdir(f"{layer}/upper", 0o755)
    os.mkdir(f"{layer}/work")
    mount(
        "overlay",
        root,
        "overlay",
        _NOSUID | _NODEV,
        f"lowerdir=/proc/self/fd/{workspace},upperdir={layer}/upper,workdir={layer}/work",
    )
    for name, fd in plan["files"].items():
        path = f"{root}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        target = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
        with os.fdopen(target, "wb") as out, os.fdopen(fd, "rb") as data:
            out.write(data.read())
    if plan["own"]:
        chown_tree(root, plan["uid"], plan["gid"])
    else:
        for name in plan["files"]:
            parts = name.split("/")
            for count in range(len(parts)):
                path = "/".join([root, *parts[: count + 1]])
                if os.lstat(path).st_uid == 0:
                    os.chown(path, plan["uid"], plan["gid"], follow_symlinks=False)


def show_workspace(plan: dict[str, Any], workspace: int) -> None:
    """Mounts the workspace itself at STAGE/workspace, as if the plan's user owned root's files.

    Raises `OSError` where the kernel (before Linux 5.12) or the file system has no id-mapped mounts.
    """
    root = f"{STAGE}/workspace"
    os.mkdir(root)
    tree = _LIBC.syscall(_OPEN_TREE, workspace, b"", _CLONE_TREE | _CLOEXEC | _RECURSIVE | _EMPTY_PATH)
    _check(tree, "open_tree")
    if plan["own"]:
        namespace = _mapping(plan["uid"], plan["gid"])
        attributes = struct.pack("QQQQ", _IDMAP, 0, 0, namespace)
        _check(_LIBC.syscall(_MOUNT_SETATTR, tree, b"", _EMPTY_PATH | _RECURSIVE, attributes, 32), "mount_setattr")
        os.close(namespace)
    _check(_LIBC.syscall(_MOVE_MOUNT, tree, b"", _HERE, root.encode(), _FROM_EMPTY_PATH), "move_mount")


def _mapping(uid: int, gid: int) -> int:
    """Opens a user namespace that maps root to this user; its only process ends again."""
    ready_in, ready_out = os.pipe()
    stop_in, stop_out = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(stop_out)
        os.write(ready_out, b"1" if _LIBC.unshare(_CLONE_NEWUSER) == 0 else b"0")
        os.read(stop_in, 1)
        os._exit(0)
    os.close(stop_in)
    try:
        if os.read(ready_in, 1) != b"1":
            raise OSError(1, "a user namespace for the mapping")
        for kind, number in (("uid", uid), ("gid", gid)):
            with open(f"/proc/{child}/{kind}_map", "w") as stream:
                stream.write(f"0 {number} 1\n")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY)
    finally:
        os.close(stop_out)
        os.waitpid(child, 0)


def _check(result: int, name: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)} ({name})")


def chown_tree(root: str, uid: int, gid: int) -> None:
    """Gives folders to the user, so that tests may write in them, and files only if they are unreadable otherwise."""
    os.chown(root, uid, gid)
    os.chmod(root, stat.S_IMODE(os.stat(root).st_mode) | 0o700)
    pending = [root]
    visited = 0
    while pending and visited < _MOST:  # the folders near the root first
        with os.scandir(pending.pop(0)) as entries:
            for entry in entries:
                visited += 1
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode) and entry.name not in _NOT_GIVEN:
                    os.chown(entry.path, uid, gid)
                    pending.append(entry.path)
                elif stat.S_ISREG(status.st_mode) and not status.st_mode & 0o004:
                    os.chown(entry.path, uid, gid)


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Raises `OSError` naming the target."""
    if _LIBC.mount(source.encode(), target.encode(), kind.encode() or None, flags, data.encode() or None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)} ({kind or 'bind'} at {target})")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"the workspace could not be staged: {error}")
