"""The user who sets up the sandbox and runs the tests, and whether that user may read a path."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Identity:
    """The user who sets up the sandbox and runs the tests, inside and outside.

    `drops_root`: greenloop runs as root and must become this user first.
    Never root: a user mapped to root owns the host's device nodes and /proc/sys, with or without capabilities.
    """

    uid: int
    gid: int
    drops_root: bool = False

    def options(self, *, staged: bool = False) -> dict[str, Any]:
        """The options of a process that is started as this user; `staged`: it becomes this user later."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.drops_root and not staged else {}


def is_reachable(path: str, identity: Identity) -> bool:
    """True if the identity can read the path, by its mode and those of the folders above."""
    try:
        return all(_allows(step, identity, 0o1) for step in Path(path).parents) and can_read(path, identity)
    except OSError:
        return False


def can_read(path: str | Path, identity: Identity) -> bool:
    """True if the identity may read the path itself, and enter it where it is a folder."""
    path = Path(path)
    try:
        return _allows(path, identity, 0o4) and (not path.is_dir() or _allows(path, identity, 0o1))
    except OSError:
        return False


def _allows(path: Path, identity: Identity, bit: int) -> bool:
    status = path.stat()
    if status.st_uid == identity.uid:
        return bool(status.st_mode & (bit << 6))
    if status.st_gid == identity.gid:
        return bool(status.st_mode & (bit << 3))
    return bool(status.st_mode & bit)
