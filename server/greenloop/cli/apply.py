"""Puts a result into the user's files: all of them or none, never over a text it was not made for."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.diff import merge
from greenloop.core.encoding import Encoding, declared, decode, encode
from greenloop.core.errors import GreenloopError, WorkspaceProblem
from greenloop.core.nouns import Outcome
from greenloop.workspace import write_atomically

KEPT = "Nothing was written; the result stays in the history: greenloop history."


@dataclass(frozen=True, kw_only=True)
class Change:
    """One file to write: what stands on the disk now (None: nothing) and what will."""

    path: str
    old: bytes | None
    new: bytes
    moved: bool


def write(
    root: Path,
    outcome: Outcome,
    *,
    originals: Mapping[str, str | None] | None = None,
    verify: Callable[[dict[str, bytes]], bool] | None = None,
) -> list[str]:
    """Writes the outcome's texts; returns the paths. Raises `WorkspaceProblem` when that is not possible or not safe.

    A file that changed since the run is merged when the changes do not touch; `verify` then runs the tests over
    all texts again, and without its yes nothing is written. `originals` are the other files the result relies on.
    """
    changes = [_change(root, path, outcome) for path in sorted(outcome.after) if _differs(outcome, path)]
    moved = [change.path for change in changes if change.moved] + _others_moved(root, originals or {}, outcome)
    if moved:
        names = ", ".join(moved)
        if verify is None:
            raise WorkspaceProblem(f"{names} changed since the run.", remedy=KEPT)
        # What stands on the disk now counts, not what the run knew of it.
        now = {path: data for path in moved if (data := _bytes(root / path)) is not None}
        if not verify({**now, **{change.path: change.new for change in changes}}):
            raise WorkspaceProblem(
                f"{names} changed during the run, and the result does not hold over it.", remedy=KEPT
            )
    _write_all(root, changes)
    return [change.path for change in changes]


def _differs(outcome: Outcome, path: str) -> bool:
    return outcome.after[path] != outcome.before.get(path)


def _change(root: Path, path: str, outcome: Outcome) -> Change:
    before, after = outcome.before.get(path), outcome.after[path]
    old = _bytes(root / path)
    if old is None:
        if before is not None:
            raise WorkspaceProblem(f"{path} was deleted during the run.", remedy=KEPT)
        return Change(path=path, old=None, new=_encoded(path, after, declared(after)), moved=False)
    try:
        now, encoding = decode(old)
    except GreenloopError as error:
        raise WorkspaceProblem(f"{path} changed during the run and cannot be read: {error}", remedy=KEPT) from error
    if now == after:
        return Change(path=path, old=old, new=old, moved=False)
    if now == before:
        return Change(path=path, old=old, new=_encoded(path, after, encoding), moved=False)
    merged = merge(before, after, now) if before is not None else None
    if merged is None:
        what = "appeared" if before is None else "changed at the same place"
        raise WorkspaceProblem(f"{path} {what} during the run.", remedy=KEPT)
    return Change(path=path, old=old, new=_encoded(path, merged, encoding), moved=True)


def _others_moved(root: Path, originals: Mapping[str, str | None], outcome: Outcome) -> list[str]:
    """Files that the verdict relies on and that are not what they were."""
    moved = []
    for path, text in originals.items():
        if path in outcome.after and _differs(outcome, path):
            continue
        now = _bytes(root / path)
        if (now is None) != (text is None) or (now is not None and text is not None and _text(now) != text):
            moved.append(path)
    return moved


def _write_all(root: Path, changes: list[Change]) -> None:
    done: list[Change] = []
    try:
        for change in (change for change in changes if change.new != change.old):
            write_atomically(root / change.path, change.new, expected=change.old)
            done.append(change)
    except WorkspaceProblem as error:
        for change in reversed(done):
            _restore(root, change)
        raise WorkspaceProblem(str(error), remedy=f"Then: greenloop history apply. {KEPT}") from error


def _restore(root: Path, change: Change) -> None:
    """Takes one file back, unless somebody changed it in the very moment."""
    with contextlib.suppress(OSError, WorkspaceProblem):
        if change.old is not None:
            write_atomically(root / change.path, change.old, expected=change.new)
        elif _bytes(root / change.path) == change.new:
            os.unlink(root / change.path)  # noqa: PTH108


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise WorkspaceProblem(f"{path} cannot be read ({error.strerror}).", remedy=KEPT) from error


def _text(data: bytes) -> str | None:
    try:
        return decode(data)[0]
    except GreenloopError:
        return None


def _encoded(path: str, text: str, encoding: Encoding) -> bytes:
    try:
        return encode(text, encoding)
    except GreenloopError as error:
        raise WorkspaceProblem(f"{path} cannot hold the result: {error}", remedy=KEPT) from error
