"""Tests that the user says are known to fail: named one by one, or in a file.

They excuse only what fails with the commit's own code too. A file that the commit has counts as committed, like its
tests: the author of the code under test could otherwise extend it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.errors import UsageError
from greenloop.project.revisions.revision import Revision

FILE = "@"  # marks a file of ids among the entries


@dataclass(frozen=True, kw_only=True)
class KnownFailing:
    """Ids of tests, classes and test files that are known to fail; `notes` say where a file of them was read."""

    entries: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def covers(self, case: str) -> bool:
        """Is the case named, or its test (without parameters), its class, or its file?"""
        return any(_covers(entry, case) for entry in self.entries)

    def describe_unused(self, excused: Collection[str], cases: Collection[str], revision: str) -> tuple[str, ...]:
        """Sentences about entries that excuse nothing, so that they can be removed."""
        sentences = []
        for entry in self.entries:
            covered = [case for case in cases if _covers(entry, case)]
            if not covered:
                sentences.append(f"{entry} is named as known to fail, but {revision} has no such test.")
            elif not any(case in excused for case in covered):
                sentences.append(f"{entry} passes now, although it is named as known to fail.")
        return tuple(sentences)


def read_known_failing(entries: Collection[str], revision: Revision, root: Path, name: str) -> KnownFailing:
    """Replaces the files among the entries (`@path`) by the ids in them; `name` is that of the revision.

    Raises `UsageError` for a file that cannot be read.
    """
    ids: list[str] = []
    notes: list[str] = []
    for entry in entries:
        if not entry.startswith(FILE):
            ids.append(entry)
            continue
        path = root / entry.removeprefix(FILE)
        relative = path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
        committed = revision.old_code.get(relative, revision.files.get(relative))
        if committed is not None and relative in revision.paths:
            notes.append(f"{relative} was read as it is in {name}; the working tree's differs.")
        elif relative and relative not in revision.paths:
            notes.append(f"{relative} is not in {name}; it was read from the working tree.")
        ids += parse_ids(_read(path) if committed is None else committed.decode("utf-8-sig", "replace"))
    return KnownFailing(entries=tuple(dict.fromkeys(ids)), notes=tuple(dict.fromkeys(notes)))


def parse_ids(text: str) -> list[str]:
    """The ids in a file: one in a line; `#` begins a comment, at the beginning of a line or after a space."""
    rows = (_without_comment(row.strip()) for row in text.splitlines())
    return [row for row in rows if row]


def _without_comment(row: str) -> str:
    if row.startswith("#"):
        return ""
    for comment in re.finditer(r"\s+#", row):
        head = row[: comment.start()]
        if "[" not in head or head.endswith("]"):  # a parameter may contain a `#`
            return head
    return row


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise UsageError(
            f"{path.name} cannot be read as a file of known failing tests: {error.strerror}.",
            remedy="Name tests (`path.py::test`), or a file with one of them in each line.",
        ) from error


def _covers(entry: str, case: str) -> bool:
    return case == entry or case.startswith((f"{entry}[", f"{entry}::"))
