"""Writes the user's files: each in one step, and only where it still has the expected content."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from greenloop.core.errors import WorkspaceError


def write_atomically(path: Path, data: bytes, expected: bytes | None, sync: Callable[[int], None] = os.fsync) -> None:
    """Replaces the file's content in one step; `expected` is its required current content (None: must not exist).

    Keeps the mode and, if permitted, the owner. Follows a link, so that it stays a link; a file with several names
    (hard links) is written in place, so that all of them show the new content.
    Raises `WorkspaceError` when the file has changed or cannot be written; then nothing has changed.
    """
    real = path.resolve() if path.is_symlink() else path
    temporary: str | None = None
    try:
        if expected is None:
            real.parent.mkdir(parents=True, exist_ok=True)
        elif real.exists() and real.stat().st_nlink > 1:
            _refuse_changed(real, expected)
            _write_in_place(real, data, expected)
            return
        descriptor, temporary = tempfile.mkstemp(prefix=f".{real.name}.", suffix=".greenloop", dir=real.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            sync(file.fileno())
        _keep_mode(real, temporary)
        _refuse_changed(real, expected)
        Path(temporary).replace(real)
        temporary = None
        _sync_folder(real.parent)
    except OSError as error:
        raise WorkspaceError(*_write_error(real, error)) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _write_in_place(path: Path, data: bytes, old: bytes) -> None:
    with path.open("r+b") as file:
        try:
            _overwrite(file, data)
        except OSError:
            _overwrite(file, old)  # its blocks are there
            raise


def _overwrite(file: BinaryIO, data: bytes) -> None:
    file.seek(0)
    file.write(data)
    file.truncate()
    file.flush()
    os.fsync(file.fileno())


def _refuse_changed(path: Path, expected: bytes | None) -> None:
    try:
        current = path.read_bytes()
    except FileNotFoundError:
        current = None
    if current != expected:
        reason = "has been deleted" if current is None else "has been created" if expected is None else "has changed"
        raise WorkspaceError(f"{path} {reason}; nothing was written.", remedy="The result is kept in the history.")


def _keep_mode(path: Path, temporary: str) -> None:
    try:
        status = path.stat()
        writable = os.access(path, os.W_OK)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        return
    if not writable:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    Path(temporary).chmod(stat.S_IMODE(status.st_mode))
    if hasattr(os, "chown") and (status.st_uid, status.st_gid) != (os.getuid(), os.getgid()):
        try:
            os.chown(temporary, status.st_uid, status.st_gid)
        except PermissionError:
            return  # Only root may change a file's owner; the content is what matters.


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_error(path: Path, error: OSError) -> tuple[str]:
    reasons = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "your disk quota is exceeded",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "you do not have write permission",
        errno.EPERM: "you do not have write permission",
        errno.ENAMETOOLONG: "its name is too long",
    }
    reason = reasons.get(error.errno or 0, (error.strerror or str(error)).lower())
    return (f"{path} could not be written: {reason}. The file is unchanged and the result is kept in the history.",)
