"""Decides whether a result may be written without review, and writes it into the user's files.

All of them are written or none, never over an unexpected text.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.errors import GreenloopError, WorkspaceError
from greenloop.core.records.outcome import Outcome, Verified
from greenloop.core.text.diff import merge
from greenloop.core.text.encoding import Encoding, declared_encoding, decode, encode
from greenloop.project.atomic_write import write_atomically

KEPT_IN_HISTORY = "Nothing was written. The result is kept: `greenloop history` lists it."


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """One file to write: its current bytes (None: no file) and the new ones. `is_merged`: it changed during the run."""

    path: str
    old: bytes | None
    new: bytes
    is_merged: bool


def is_accepted(outcome: Outcome, accept: Collection[str]) -> bool:
    """Is the result as trustworthy as the user asked for? `accept`: `partial`, `unverified`, `warned` or nothing."""
    if not outcome.solved:
        return False
    match outcome.verified:
        case Verified.VERIFIED:
            return True
        case Verified.PARTIALLY:
            return "partial" in accept or "unverified" in accept
        case Verified.UNVERIFIED:
            return "unverified" in accept


def may_write(outcome: Outcome, accept: Collection[str]) -> bool:
    """May it be written without review? With warnings (it newly imports os, ...) only if those are accepted."""
    return is_accepted(outcome, accept) and (not outcome.evidence.warnings or "warned" in accept)


def write_result(
    root: Path,
    outcome: Outcome,
    *,
    originals: Mapping[str, str | None] | None = None,
    reverify: Callable[[dict[str, bytes]], bool] | None = None,
) -> list[str]:
    """Writes the outcome's texts; returns the paths. Raises `WorkspaceError` when writing is impossible or unsafe.

    A file that changed since the run is merged when the changes do not overlap; `reverify` then runs the tests over
    all texts again, and nothing is written unless it returns True. `originals` are the other files the result relies
    on.
    """
    changes = [plan_change(path, outcome, _read_bytes(root / path)) for path in changed_paths(outcome)]
    relied_on = {path: text for path, text in (originals or {}).items() if path not in changed_paths(outcome)}
    stale_paths = [change.path for change in changes if change.is_merged]
    stale_paths += [path for path, text in relied_on.items() if is_stale(_read_bytes(root / path), text)]
    if stale_paths:
        names = ", ".join(stale_paths)
        if reverify is None:
            raise WorkspaceError(f"{names} changed since the run.", remedy=KEPT_IN_HISTORY)
        # The current text on the disk counts, not the one that the run saw.
        current = {path: data for path in stale_paths if (data := _read_bytes(root / path)) is not None}
        if not reverify({**current, **{change.path: change.new for change in changes}}):
            raise WorkspaceError(
                f"{names} changed during the run, and the result fails with that change.", remedy=KEPT_IN_HISTORY
            )
    write_changes(root, changes)
    return [change.path for change in changes]


def write_texts(root: Path, before: Mapping[str, str | None], after: Mapping[str, str]) -> list[str]:
    """Writes whole texts, only over exactly the ones before (None: no file); returns the paths.

    Raises `WorkspaceError` when a file has changed or cannot be written; then nothing has changed.
    """
    changes = []
    for path in sorted(path for path, text in after.items() if text != before.get(path)):
        old = _read_bytes(root / path)
        if is_stale(old, before.get(path)):
            raise WorkspaceError(f"{path} changed meanwhile.", remedy="Nothing was written.")
        encoding = declared_encoding(after[path]) if old is None else decode(old)[1]
        changes.append(FileChange(path=path, old=old, new=_encode(path, after[path], encoding), is_merged=False))
    write_changes(root, changes)
    return [change.path for change in changes]


def changed_paths(outcome: Outcome) -> list[str]:
    """The files that the result changes, sorted."""
    return [path for path in sorted(outcome.after) if outcome.after[path] != outcome.before.get(path)]


def plan_change(path: str, outcome: Outcome, old_data: bytes | None) -> FileChange:
    """The change of one file that has these bytes now (None: no file), merged with what was changed during the run.

    Raises `WorkspaceError` where the two changes overlap.
    """
    before, after = outcome.before.get(path), outcome.after[path]
    if old_data is None:
        if before is not None:
            raise WorkspaceError(f"{path} was deleted during the run.", remedy=KEPT_IN_HISTORY)
        return FileChange(path=path, old=None, new=_encode(path, after, declared_encoding(after)), is_merged=False)
    try:
        current, encoding = decode(old_data)
    except GreenloopError as error:
        raise WorkspaceError(
            f"{path} changed during the run and cannot be read: {error}", remedy=KEPT_IN_HISTORY
        ) from error
    if current == after:
        return FileChange(path=path, old=old_data, new=old_data, is_merged=False)
    if current == before:
        return FileChange(path=path, old=old_data, new=_encode(path, after, encoding), is_merged=False)
    merged = merge(before, after, current) if before is not None else None
    if merged is None:
        event = "appeared" if before is None else "changed at the same place"
        raise WorkspaceError(f"{path} {event} during the run.", remedy=KEPT_IN_HISTORY)
    return FileChange(path=path, old=old_data, new=_encode(path, merged, encoding), is_merged=True)


def is_stale(data: bytes | None, text: str | None) -> bool:
    """Is what a file has now another text than the one that the verdict relies on (None: no file)?"""
    if data is None or text is None:
        return (data is None) != (text is None)
    return _decode_or_none(data) != text


def write_changes(root: Path, changes: Sequence[FileChange]) -> None:
    """Writes all of the changes or none. Raises `WorkspaceError`."""
    done: list[FileChange] = []
    try:
        for change in (change for change in changes if change.new != change.old):
            write_atomically(root / change.path, change.new, expected=change.old)
            done.append(change)
    except WorkspaceError as error:
        for change in reversed(done):
            _restore(root, change)
        raise WorkspaceError(
            str(error), remedy=f"Fix that, then run `greenloop history apply`. {KEPT_IN_HISTORY}"
        ) from error


def _restore(root: Path, change: FileChange) -> None:
    """Restores one file, unless it was changed again in the meantime."""
    with contextlib.suppress(OSError, WorkspaceError):
        if change.old is not None:
            write_atomically(root / change.path, change.old, expected=change.new)
        elif _read_bytes(root / change.path) == change.new:
            os.unlink(root / change.path)  # noqa: PTH108


def _read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be read ({error.strerror}).", remedy=KEPT_IN_HISTORY) from error


def _decode_or_none(data: bytes) -> str | None:
    try:
        return decode(data)[0]
    except GreenloopError:
        return None


def _encode(path: str, text: str, encoding: Encoding) -> bytes:
    try:
        return encode(text, encoding)
    except GreenloopError as error:
        raise WorkspaceError(f"{path} cannot hold the result: {error}", remedy=KEPT_IN_HISTORY) from error
