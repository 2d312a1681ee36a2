"""Decides whether a result may be written without review, plans its changes, and writes them into the user's files.

All of them are written or none, never over an unexpected text.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from greenloop.core.errors import GreenloopError, WorkspaceError
from greenloop.core.records.outcome import Outcome, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.text.diff import contains, merge
from greenloop.core.text.encoding import Encoding, declared_encoding, decode, decode_or_none, encode
from greenloop.project.atomic_write import write_atomically

if TYPE_CHECKING:
    from greenloop.project.settings import Settings

KEPT_IN_HISTORY = "Nothing was written. The result is kept: `greenloop history` lists it."


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """One file to write: its current bytes (None: no file) and the new ones, merged with the user's if `is_merged`."""

    path: str
    old: bytes | None
    new: bytes
    is_merged: bool


class Files(Protocol):
    """The user's files; paths are relative to the workspace."""

    async def read(self, path: str) -> bytes | None:
        """Returns the bytes that saving the file now would write; None if there is no file."""
        ...

    async def write(self, changes: Sequence[FileChange]) -> None:
        """Writes all of the changes or none, each over the text that it was made for. Raises `WorkspaceError`."""
        ...


@dataclass(frozen=True, kw_only=True)
class DiskFiles:
    """The files on the disk, below `root`."""

    root: Path

    async def read(self, path: str) -> bytes | None:
        return _read_bytes(self.root / path)

    async def write(self, changes: Sequence[FileChange]) -> None:
        write_changes(self.root, changes)


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
    """May the result be written without review? With warnings (it newly imports os, ...) only if they are accepted."""
    return is_accepted(outcome, accept) and (not outcome.evidence.warnings or "warned" in accept)


async def plan_changes(
    outcome: Outcome,
    files: Files,
    *,
    originals: Mapping[str, str | None],
    passes_again: Callable[[dict[str, bytes]], Awaitable[bool]] | None,
    report_status: Callable[[str], None],
) -> list[FileChange]:
    """Plans the changes that bring the outcome's texts into the files, by the one policy for files that have changed.

    A file that has changed since the run is merged if the changes do not overlap; `passes_again` then runs the tests
    over the merged texts (None: such a file is refused). It also does so if one of the `originals` has changed, the
    other files that the result relies on.
    Raises `WorkspaceError` if the changes overlap, a file to change was deleted, or the merged texts fail.
    """
    current = {path: await files.read(path) for path in {**dict.fromkeys(changed_paths(outcome)), **originals}}
    changes = plan_texts(outcome, current)
    stale = find_stale(changes, originals, current)
    if not stale:
        return changes
    names = ", ".join(stale)
    if passes_again is None:
        raise WorkspaceError(f"{names} changed since the run.", remedy=KEPT_IN_HISTORY)
    report_status(f"{names} changed during the run; the result is verified again with that change.")
    if not await passes_again(texts_to_verify(changes, stale)):
        raise WorkspaceError(
            f"{names} changed during the run, and the result fails with that change.", remedy=KEPT_IN_HISTORY
        )
    return changes


def plan_texts(outcome: Outcome, current: Mapping[str, bytes | None]) -> list[FileChange]:
    """The changes that bring the outcome into these files, merged where they changed; nothing is verified again.

    Raises `WorkspaceError` where the changes overlap, or a file to change was deleted.
    """
    return [plan_change(path, outcome, current[path]) for path in changed_paths(outcome)]


def find_stale(
    changes: Sequence[FileChange], originals: Mapping[str, str | None], current: Mapping[str, bytes | None]
) -> dict[str, bytes | None]:
    """The files with other texts than those that the verdict relies on, as the result leaves them."""
    changed = {change.path for change in changes}
    others = {path: current[path] for path, text in originals.items() if path not in changed}
    stale: dict[str, bytes | None] = {change.path: change.new for change in changes if change.is_merged}
    return stale | {path: data for path, data in others.items() if is_stale(data, originals[path])}


def texts_to_verify(changes: Sequence[FileChange], stale: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """The current texts, not those that the run saw, with the changes in them."""
    current = {path: data for path, data in stale.items() if data is not None}
    return {**current, **{change.path: change.new for change in changes}}


async def passes_again(problem: Problem, texts: Mapping[str, bytes], *, settings: Settings) -> bool:
    """Do the tests of a run pass, and its related tests, over texts that were merged with what changed meanwhile?

    Raises `CannotVerifyError` where no sandbox can be used.
    """
    from greenloop.engine import after_run  # noqa: PLC0415 - the engine is loaded at the first run only

    return has_passed(await after_run.reverify(problem, texts, settings=settings))


def has_passed(verdict: Verdict) -> bool:
    """Does a result that was verified again still hold, and breaks no other test?"""
    return verdict.status is Status.PASSED and not verdict.collateral


def write_texts(root: Path, before: Mapping[str, str | None], after: Mapping[str, str]) -> list[str]:
    """Writes whole texts, only over exactly the ones before (None: no file); returns the paths.

    Raises `WorkspaceError` when a file has changed or cannot be written; then nothing has changed.
    """
    changes = []
    for path in sorted(path for path, text in after.items() if text != before.get(path)):
        old = _read_bytes(root / path)
        if is_stale(old, before.get(path)):
            raise WorkspaceError(f"{path} changed in the meantime.", remedy="Nothing was written.")
        encoding = declared_encoding(after[path]) if old is None else decode(old)[1]
        changes.append(FileChange(path=path, old=old, new=_encode(path, after[path], encoding), is_merged=False))
    write_changes(root, changes)
    return [change.path for change in changes]


def restore_texts(root: Path, before: Mapping[str, str | None], after: Mapping[str, str], *, run: int) -> list[str]:
    """Writes the texts before a run over exactly the ones after it (None: the file goes); returns the paths.

    Raises `WorkspaceError` when a file has changed or cannot be written; then nothing has changed.
    """
    changes, new = [], []
    for path in sorted(path for path, text in after.items() if text != before.get(path)):
        old, text = _read_bytes(root / path), before.get(path)
        if old is None or is_stale(old, after[path]):
            event = "was deleted" if old is None else "changed"
            remedy = f"Nothing was written. `greenloop history show {run}` has the change, to take it back by hand."
            raise WorkspaceError(f"{path} {event} since run {run} was written.", remedy=remedy)
        if text is None:
            new.append(FileChange(path=path, old=old, new=old, is_merged=False))
        else:
            data = _encode(path, text, decode(old)[1])
            changes.append(FileChange(path=path, old=old, new=data, is_merged=False))
    write_changes(root, changes)
    for change in new:
        if _read_bytes(root / change.path) == change.old:  # typed meanwhile: it stays
            (root / change.path).unlink()
    return [change.path for change in (*changes, *new)]


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
    if contains(before or "", after, current):
        return FileChange(path=path, old=old_data, new=old_data, is_merged=False)
    # Where an editor cannot create files, its user creates an empty one.
    merged = merge(before, after, current) if before is not None else None if current.strip() else after
    if merged is None:
        event = "appeared" if before is None else "changed at the same place"
        raise WorkspaceError(f"{path} {event} during the run.", remedy=KEPT_IN_HISTORY)
    return FileChange(
        path=path, old=old_data, new=_encode(path, merged, encoding), is_merged=before is not None and current != before
    )


def is_stale(data: bytes | None, text: str | None) -> bool:
    """Is what a file has now another text than the one that the verdict relies on (None: no file)?"""
    if data is None or text is None:
        return (data is None) != (text is None)
    return decode_or_none(data) != text


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


def _encode(path: str, text: str, encoding: Encoding) -> bytes:
    try:
        return encode(text, encoding)
    except GreenloopError as error:
        raise WorkspaceError(f"{path} cannot hold the result: {error}", remedy=KEPT_IN_HISTORY) from error
