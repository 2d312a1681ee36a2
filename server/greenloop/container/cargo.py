"""The workspace's files that travel into a container: what is taken, what is left out, what changed since.

They travel as bytes over stdin and not as a mount, so an engine on another machine does as well.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache
from pathlib import Path

from greenloop.core.errors import CannotVerify

MOST_BYTES = 256 << 20
MOST_FILES = 50_000
PAGE = 4096  # a file in memory takes whole pages
BATCH = 8 << 20  # bytes of one write request

# Made by tools, never by hand, and mostly large; no test reads them.
LEFT_OUT = frozenset(
    {
        ".git", ".hg", ".svn", "__pycache__", ".venv", "venv", "node_modules", "__pypackages__",
        ".mypy_cache", ".pytest_cache", ".ruff_cache", ".pytype", ".hypothesis", ".tox", ".nox", ".eggs", ".direnv",
        ".ipynb_checkpoints", ".idea", ".vscode", ".vs", ".gradle", ".cache",
    }
)  # fmt: skip
LEFT_OUT_FILES = ("*.pyc", "*.pyo", "*.swp", ".DS_Store")


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """What tells that a file changed without reading it."""

    size: int
    modified: int
    inode: int
    executable: bool = False


@dataclass(frozen=True, kw_only=True)
class Cargo:
    """What travels: files and folders by relative path."""

    files: Mapping[str, Stamp] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()

    @property
    def memory(self) -> int:
        """Bytes that the files take in memory."""
        return sum(-(-stamp.size // PAGE) * PAGE for stamp in self.files.values())


def scan(root: Path, masked: Sequence[str]) -> Cargo:
    """Every regular file and every folder that travels.

    Left out: what `masked` hides (glob patterns of names), virtual environments, caches, links that lead out of the
    workspace, and names that cannot be told to the other side.
    Raises `CannotVerify` when there is too much of it, naming the biggest folder.
    """
    entries = dict(_entries(root, root.resolve(), masked))
    found = Cargo(
        files={path: stamp for path, stamp in entries.items() if stamp is not None},
        folders=frozenset(path for path, stamp in entries.items() if stamp is None),
    )
    if found.memory > MOST_BYTES or len(found.files) > MOST_FILES:
        raise _too_much(found.files, found.memory)
    return found


def load(root: Path, paths: Sequence[str]) -> Iterator[dict[str, bytes]]:
    """The files' contents in batches. One that vanished meanwhile is left out."""
    batch: dict[str, bytes] = {}
    size = 0
    for path in paths:
        try:
            batch[path] = (root / path).read_bytes()
        except OSError:
            continue
        size += len(batch[path])
        if size >= BATCH:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch


def _entries(root: Path, real_root: Path, masked: Sequence[str]) -> Iterator[tuple[str, Stamp | None]]:
    """Files with their stamps, folders without one."""
    todo: list[tuple[str, frozenset[str]]] = [("", frozenset({str(real_root)}))]
    while todo:
        folder, above = todo.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if "\\" in entry.name or _hidden(entry.name, masked):
                continue
            try:
                if entry.is_symlink() and not _stays(Path(entry.path), real_root, masked):
                    continue
                about = entry.stat()
            except OSError:
                continue  # a broken link, or gone meanwhile
            if stat.S_ISREG(about.st_mode):
                if not _hidden(entry.name, LEFT_OUT_FILES):
                    yield (
                        path,
                        Stamp(
                            size=about.st_size,
                            modified=about.st_mtime_ns,
                            inode=about.st_ino,
                            executable=bool(about.st_mode & stat.S_IXUSR),
                        ),
                    )
            elif stat.S_ISDIR(about.st_mode) and _travels(entry):
                real = os.path.realpath(entry.path)
                if real not in above:  # a link to a folder above would never end
                    todo.append((path, above | {real}))
                    yield path, None


def _hidden(name: str, masked: Sequence[str]) -> bool:
    return _any_of(tuple(masked)).match(name) is not None


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all: a large workspace asks some hundred thousand times."""
    return re.compile("|".join(map(translate, patterns)) or r"(?!)")


def _stays(link: Path, real_root: Path, masked: Sequence[str]) -> bool:
    """Does the link lead to something in the workspace that is not hidden itself?"""
    try:
        inside = link.resolve(strict=True).relative_to(real_root)
    except (OSError, ValueError, RuntimeError):
        return False
    return not any(part in LEFT_OUT or _hidden(part, masked) for part in inside.parts)


def _travels(entry: os.DirEntry[str]) -> bool:
    return entry.name not in LEFT_OUT and not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))  # noqa: PTH110, PTH118


def _too_much(found: Mapping[str, Stamp], size: int) -> CannotVerify:
    bytes_in: Counter[str] = Counter()
    files_in: Counter[str] = Counter()
    for path, stamp in found.items():
        folder = path.rpartition("/")[0] or "."
        bytes_in[folder] += stamp.size
        files_in[folder] += 1
    by_size = size > MOST_BYTES
    biggest, amount = (bytes_in if by_size else files_in).most_common(1)[0]
    what = f"{size >> 20} MiB" if by_size else f"{len(found)} files"
    limit = f"{MOST_BYTES >> 20} MiB" if by_size else f"{MOST_FILES} files"
    most = f"{amount >> 20} MiB" if by_size else f"{amount} files"
    return CannotVerify(
        f"The workspace is too large for a container: {what}, the limit is {limit}; {biggest} alone has {most}.",
        remedy=f"Move {biggest} out of the workspace, or use `sandbox.kind = bubblewrap`, which mounts it.",
    )
