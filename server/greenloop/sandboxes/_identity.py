"""Who builds the wall and runs the tests, and what that user may read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Who builds the wall and runs the tests, inside as outside. `drop`: we are root and become that user first.

    Never root: whoever is mapped to root owns the host's device nodes and /proc/sys, with or without capabilities.
    """

    uid: int
    gid: int
    drop: bool = False


def reachable(path: str, identity: Identity) -> bool:
    """Whether the identity can reach the path and read it, by the modes of it and of the folders above."""
    try:
        return all(_allows(step, identity, 0o1) for step in Path(path).parents) and open_to(path, identity)
    except OSError:
        return False


def open_to(path: str | Path, identity: Identity) -> bool:
    """Whether the identity may read the path itself, and enter it where it is a folder."""
    path = Path(path)
    try:
        return _allows(path, identity, 0o4) and (not path.is_dir() or _allows(path, identity, 0o1))
    except OSError:
        return False


def _allows(path: Path, identity: Identity, bit: int) -> bool:
    found = path.stat()
    if found.st_uid == identity.uid:
        return bool(found.st_mode & (bit << 6))
    if found.st_gid == identity.gid:
        return bool(found.st_mode & (bit << 3))
    return bool(found.st_mode & bit)
