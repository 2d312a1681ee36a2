"""What the machine or the container allows this process: memory and processes, as its control groups say.

Both versions are read, from the group's own folder up to the root of what can be seen: a limit anywhere on the way
holds. Inside a container the path of /proc/self/cgroup is the host's and may not be there; then the root is the group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

# What version 1 says where there is no limit: the largest number of whole pages.
_ENDLESS = 1 << 60


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """Bytes of memory and numbers of processes; None where nothing is limited or nothing can be read.

    `free` is what the tightest memory group has left; `killed`: how often it killed for lack of memory (version 2).
    """

    memory: int | None = None
    free: int | None = None
    processes: int | None = None
    killed: int = 0


def allowed(root: Path = Path("/")) -> Allowed:
    """The tightest limits that hold for this process. `root` is where /proc and /sys lie."""
    memory, free, processes, killed = [], [], [], 0
    for folder in _groups(root, "memory"):
        limit = _number(folder / "memory.max", folder / "memory.limit_in_bytes")
        if limit is None:
            continue
        memory.append(limit)
        used = _number(folder / "memory.current", folder / "memory.usage_in_bytes") or 0
        free.append(max(0, limit - used + _cache(folder)))
        killed = max(killed, _of(folder / "memory.events", "oom_kill"))
    for folder in _groups(root, "pids"):
        limit = _number(folder / "pids.max")
        if limit is not None:
            processes.append(limit)
    return Allowed(
        memory=min(memory, default=None),
        free=min(free, default=None),
        processes=min(processes, default=None),
        killed=killed,
    )


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's group and those above it, for both versions, those that exist."""
    mounts = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _colon, rest = line.partition(":")
        controllers, _colon, path = rest.partition(":")
        if number == "0" and not controllers:
            # Alone, or beside version 1 ("hybrid").
            base = mounts / "unified" if (mounts / "unified").is_dir() else mounts
        elif controller in controllers.split(","):
            base = mounts / controllers if (mounts / controllers).is_dir() else mounts / controller
        else:
            continue
        inner = PurePosixPath(path.strip("/"))
        for part in (inner, *inner.parents):
            if ".." not in part.parts and (base / part).is_dir():
                yield base / part


def _number(*files: Path) -> int | None:
    """The number in the first of the files that has one; None for `max` and for version 1's endless number."""
    for file in files:
        text = _text(file).strip()
        if text.isdigit():
            return int(text) if int(text) < _ENDLESS else None
    return None


def _cache(folder: Path) -> int:
    """Pages of files that nobody needs just now: they count as used and are given back under pressure."""
    return _of(folder / "memory.stat", "total_inactive_file") or _of(folder / "memory.stat", "inactive_file")


def _of(file: Path, key: str) -> int:
    """The number beside a key in a file of `key number` lines; 0 where there is none."""
    pairs = (line.split() for line in _text(file).splitlines())
    return next((int(pair[1]) for pair in pairs if len(pair) == 2 and pair[0] == key and pair[1].isdigit()), 0)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
