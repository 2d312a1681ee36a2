"""Reads the memory, processor and process limits of this process from its control groups (cgroups v1 and v2).

Reads from the group's own folder up to the visible root: a limit anywhere on the way holds.
Inside a container the path in /proc/self/cgroup is the host's and may not exist; then the root is the group.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from greenloop.core.text.encoding import read_or_empty

# Version 1 reports "no limit" as the largest number of whole pages.
_ENDLESS = 1 << 60


@dataclass(frozen=True, kw_only=True)
class CgroupLimits:
    """Limits in bytes of memory and number of processes; None if there is no limit or it cannot be read.

    `free_memory` is what the tightest memory group has left.
    """

    memory: int | None = None
    free_memory: int | None = None
    processes: int | None = None


def read_limits(root: Path = Path("/")) -> CgroupLimits:
    """The tightest limits that hold for this process. `root` is the folder that contains /proc and /sys."""
    memory_limits, free_bytes, process_limits = [], [], []
    for folder in _groups(root, "memory"):
        limit = _number(folder / "memory.max", folder / "memory.limit_in_bytes")
        if limit is None:
            continue
        memory_limits.append(limit)
        used = _number(folder / "memory.current", folder / "memory.usage_in_bytes") or 0
        # Inactive file pages count as used, but the kernel frees them under memory pressure.
        cache = _read_key(folder / "memory.stat", "total_inactive_file") or _read_key(
            folder / "memory.stat", "inactive_file"
        )
        free_bytes.append(max(0, limit - used + cache))
    for folder in _groups(root, "pids"):
        limit = _number(folder / "pids.max")
        if limit is not None:
            process_limits.append(limit)
    return CgroupLimits(
        memory=min(memory_limits, default=None),
        free_memory=min(free_bytes, default=None),
        processes=min(process_limits, default=None),
    )


def processor_count(root: Path = Path("/"), processors: int = 0) -> int:
    """The number of processors that this process may keep busy at once, at least 1."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    processors = processors or own
    for folder in _groups(root, "cpu"):
        version_1 = (read_or_empty(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period"))
        quota, _space, period = (read_or_empty(folder / "cpu.max").strip() or " ".join(version_1)).partition(" ")
        if quota.isdigit() and period.isdigit() and int(period):
            processors = min(processors, max(1, int(quota) // int(period)))
    return processors


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Existing folders of this process's group and of the groups above it, for both versions."""
    mounts = root / "sys/fs/cgroup"
    for line in read_or_empty(root / "proc/self/cgroup").splitlines():
        number, _colon, remainder = line.partition(":")
        controllers, _colon, path = remainder.partition(":")
        if number == "0" and not controllers:
            # Version 2 alone, or together with version 1 ("hybrid").
            group_root = mounts / "unified" if (mounts / "unified").is_dir() else mounts
        elif controller in controllers.split(","):
            group_root = mounts / controllers if (mounts / controllers).is_dir() else mounts / controller
        else:
            continue
        group_path = PurePosixPath(path.strip("/"))
        for folder in (group_path, *group_path.parents):
            if ".." not in folder.parts and (group_root / folder).is_dir():
                yield group_root / folder


def _number(*files: Path) -> int | None:
    """The first number found in the files; None for `max` and for version 1's "no limit"."""
    for file in files:
        text = read_or_empty(file).strip()
        if text.isdigit():
            return int(text) if int(text) < _ENDLESS else None
    return None


def _read_key(file: Path, key: str) -> int:
    """The number for a key in a file of `key number` lines; 0 if the key is missing."""
    pairs = (line.split() for line in read_or_empty(file).splitlines())
    return next((int(pair[1]) for pair in pairs if len(pair) == 2 and pair[0] == key and pair[1].isdigit()), 0)
