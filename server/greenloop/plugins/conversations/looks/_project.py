"""The project as a model may see it: texts of files that are not hidden, and runs of tests in the sandbox.

It must not know which tool asks.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from greenloop.core.records.problem import Problem
from greenloop.project.hidden import is_masked
from greenloop.project.snapshot import Snapshot
from greenloop.project.sources import is_project_path, project_files
from greenloop_sandbox import Execution, Inspection

LARGEST = 2 << 20  # bytes of a file that is read
MOST_ENTRIES = 10_000  # of a folder that is listed
Arguments = Mapping[str, Any]


class LookError(Exception):
    """A look that cannot be done; its sentence is for the model."""


@dataclass(frozen=True, kw_only=True)
class ProjectView:
    """The project as looks may use it. `changed` are the texts of the attempt that the next answer builds on.

    `masked` are patterns of hidden files; `run` runs selectors over the changed texts and describes what fails;
    `failing` are the ids of the target's failing cases.
    """

    snapshot: Snapshot
    problem: Problem
    changed: Mapping[str, str]
    masked: Sequence[str]
    run: Callable[[Sequence[str], Inspection], Awaitable[Execution]]
    failing: Sequence[str] = ()

    @property
    def root(self) -> Path:
        return self.snapshot.root

    def text(self, path: str, *, keep: bool = True) -> str:
        """The text of a file as it is now. Raises `LookError` for one that is hidden, outside, large or not text.

        `keep`: it stays as it is for the rest of the run, so that an edit finds what was shown.
        """
        path = self.resolve(path)
        if path in self.changed:
            return self.changed[path]
        if (original := self.problem.originals.get(path)) is not None:
            return original
        file = self.root / path
        if path not in self.snapshot.buffers:
            if file.is_dir():
                raise LookError(f"`{path}` is a folder.")
            if not file.is_file():
                raise LookError(f"There is no file `{path}`.")
            if (size := file.stat().st_size) > LARGEST:
                raise LookError(f"`{path}` is too large ({size >> 20} MB).")
        text = self.snapshot.readable_text(path, keep=keep)
        if text is None:
            raise LookError(f"`{path}` is not a text file.")
        return text

    def resolve(self, path: str) -> str:
        """The path relative to the workspace. Raises `LookError` where it is outside or hidden."""
        given = path.strip().removeprefix("./")
        pure = PurePosixPath(given)
        if pure.is_absolute():
            try:
                pure = pure.relative_to(self.root)
            except ValueError:
                raise LookError(f"`{path}` is outside the workspace.") from None
        if ".." in pure.parts:
            raise LookError(f"`{path}` is outside the workspace.")
        relative = "" if str(pure) == "." else str(pure)
        try:
            is_inside = (self.root / relative).resolve().is_relative_to(self.root.resolve())
        except (OSError, ValueError):
            raise LookError(f"`{path}` cannot be a file here.") from None
        if not is_inside:
            raise LookError(f"`{path}` leads outside the workspace.")
        if relative and (is_masked(relative, self.masked) or is_masked(relative, (".*",))):
            raise LookError(f"`{relative}` is hidden.")
        return relative

    def selector(self, test: str) -> str:
        """The id of a test, a file or a folder, as pytest takes it. Raises `LookError` where there is no such file."""
        path, colons, name = test.strip().partition("::")
        kind, doctest, rest = path.rpartition("doctest:")
        if not rest or kind:
            raise LookError(f"`{test}` names no test.")
        relative = self.resolve(rest)
        known = {*self.changed, *self.snapshot.buffers, *self.problem.files, *self.problem.spec.files}
        if relative not in known and not (self.root / relative).exists():
            raise LookError(f"There is no file `{relative}`.")
        return f"{doctest}{relative or '.'}{colons}{name}"

    def entries(self, folder: str) -> list[str]:
        """The names in a folder that are not hidden, with a slash behind those of folders."""
        prefix = f"{folder}/" if folder else ""
        new = [path[len(prefix) :].partition("/") for path in self.changed if path.startswith(prefix)]
        names = {*self._names(folder), *(name + slash for name, slash, _rest in new)}
        patterns = (*self.masked, ".*")
        return sorted(name for name in names if not is_masked(f"{prefix}{name.rstrip('/')}", patterns))

    def _names(self, folder: str) -> Iterator[str]:
        with os.scandir(self.root / folder) as entries:
            for entry in islice(entries, MOST_ENTRIES):
                yield f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name

    async def files(self, suffix: str = "") -> list[str]:
        """The files of the project that are not hidden, those that are only in the change included."""
        found = await asyncio.to_thread(project_files, self.root, suffix)
        new = [path for path in self.changed if path.endswith(suffix) and is_project_path(self.root, path)]
        return [path for path in dict.fromkeys([*found, *new]) if not is_masked(path, self.masked)]


def text_argument(arguments: Arguments, name: str, *, needed: bool = True) -> str:
    """An argument that is a text; numbers are taken for their digits. Raises `LookError` where it is missing."""
    value = arguments.get(name)
    if value is None:
        value = ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise LookError(f"`{name}` must be a text.")
    if needed and not value.strip():
        raise LookError(f"`{name}` is missing.")
    return value
