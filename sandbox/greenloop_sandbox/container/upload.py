"""Selects the workspace's files to upload into a container, and reads those that changed.

They are sent as bytes over stdin and not mounted, so an engine on another machine works as well.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.records import Mask

MAX_BYTES = 256 << 20
MAX_FILES = 50_000
PAGE_BYTES = 4096  # a file in memory takes whole pages
BATCH_BYTES = 8 << 20  # bytes of one write request

# Made by tools and mostly large; no test reads them.
EXCLUDED_FOLDERS = frozenset({
    ".git", ".hg", ".svn", "__pycache__", ".venv", "venv", "node_modules", "__pypackages__", ".mypy_cache",
    ".pytest_cache", ".ruff_cache", ".pytype", ".hypothesis", ".tox", ".nox", ".eggs", ".direnv",
    ".ipynb_checkpoints", ".idea", ".vscode", ".vs", ".gradle", ".cache",
})  # fmt: skip
EXCLUDED_ENDS = (".pyc", ".pyo", ".swp", ".DS_Store")


@dataclass(frozen=True, kw_only=True)
class FileStamp:
    """Identifies a version of a file without reading it."""

    size: int
    modified: int
    inode: int
    executable: bool = False


@dataclass(frozen=True, kw_only=True)
class WorkspaceUpload:
    """The files and folders to upload, by relative path."""

    files: Mapping[str, FileStamp] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()

    @property
    def memory(self) -> int:
        """Bytes that the files take in memory."""
        return sum(-(-stamp.size // PAGE_BYTES) * PAGE_BYTES for stamp in self.files.values())


def scan(root: Path, masked: Sequence[str], most_files: int = MAX_FILES) -> WorkspaceUpload:
    """Finds every regular file and every folder to upload.

    Excluded: what `masked` hides (glob patterns of names), virtual environments, caches, links that lead out of the
    workspace, and names that the protocol cannot carry.
    Raises `CannotVerifyError` naming the largest folder when there is too much.
    """
    entries = dict(_entries(root, root.resolve(), Mask(masked)))
    upload = WorkspaceUpload(
        files={path: stamp for path, stamp in entries.items() if stamp is not None},
        folders=frozenset(path for path, stamp in entries.items() if stamp is None),
    )
    if upload.memory > MAX_BYTES or len(upload.files) > most_files:
        raise _too_large(upload.files, upload.memory)
    return upload


def read_batches(root: Path, paths: Sequence[str], most_bytes: int = BATCH_BYTES) -> Iterator[dict[str, bytes]]:
    """Yields the files' contents in batches. Files that have vanished are skipped."""
    batch: dict[str, bytes] = {}
    size = 0
    for path in paths:
        try:
            batch[path] = (root / path).read_bytes()
        except OSError:
            continue
        size += len(batch[path])
        if size >= most_bytes:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch


def _entries(root: Path, real_root: Path, mask: Mask) -> Iterator[tuple[str, FileStamp | None]]:
    """Yields (path, stamp) for files, (path, None) for folders."""
    pending: list[tuple[str, frozenset[str]]] = [("", frozenset({str(real_root)}))]
    while pending:
        folder, above = pending.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if "\\" in entry.name or mask.hides(path):
                continue
            try:
                if entry.is_symlink() and not _stays_inside(Path(entry.path), real_root, mask):
                    continue
                status = entry.stat()
            except OSError:
                continue  # a broken link, or a file that has vanished
            if stat.S_ISREG(status.st_mode):
                if not entry.name.endswith(EXCLUDED_ENDS):
                    yield (
                        path,
                        FileStamp(
                            size=status.st_size,
                            modified=status.st_mtime_ns,
                            inode=status.st_ino,
                            executable=bool(status.st_mode & stat.S_IXUSR),
                        ),
                    )
            elif stat.S_ISDIR(status.st_mode) and _is_uploaded(entry):
                real = os.path.realpath(entry.path)
                if real not in above:  # following a link to a folder above would never end
                    pending.append((path, above | {real}))
                    yield path, None


def _stays_inside(link: Path, real_root: Path, mask: Mask) -> bool:
    """True if the link leads to a path in the workspace that is not hidden itself."""
    try:
        target = link.resolve(strict=True).relative_to(real_root)
    except (OSError, ValueError, RuntimeError):
        return False
    is_hidden = any(mask.hides(path.as_posix()) for path in [target, *target.parents][:-1])
    return not is_hidden and not any(part in EXCLUDED_FOLDERS for part in target.parts)


def _is_uploaded(entry: os.DirEntry[str]) -> bool:
    return entry.name not in EXCLUDED_FOLDERS and not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))  # noqa: PTH110, PTH118


def _too_large(stamps: Mapping[str, FileStamp], size: int) -> CannotVerifyError:
    bytes_in: Counter[str] = Counter()
    files_in: Counter[str] = Counter()
    for path, stamp in stamps.items():
        folder = path.rpartition("/")[0] or "."
        bytes_in[folder] += stamp.size
        files_in[folder] += 1
    by_size = size > MAX_BYTES
    largest, amount = (bytes_in if by_size else files_in).most_common(1)[0]
    total = f"{size >> 20} MiB" if by_size else f"{len(stamps)} files"
    limit = f"{MAX_BYTES >> 20} MiB" if by_size else f"{MAX_FILES} files"
    share = f"{amount >> 20} MiB" if by_size else f"{amount} files"
    return CannotVerifyError(
        f"The workspace is too large for a container: {total}, the limit is {limit}; {largest} alone has {share}.",
        remedy=f"Move {largest} out of the workspace, or use `sandbox.kind = bubblewrap`, which mounts it.",
    )
