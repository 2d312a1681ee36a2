"""The project as a model may see it: texts of files that are not hidden, and runs of tests in the sandbox.

It must not know which tool asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from greenloop.core.errors import GreenloopError
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Execution, Inspection
from greenloop.project.hidden import is_masked
from greenloop.project.snapshot import Snapshot
from greenloop.project.sources import is_project_path, project_files

LARGEST = 2 << 20  # bytes of a file that is read
Arguments = Mapping[str, Any]


class LookError(Exception):
    """A look that cannot be done; its sentence is for the model."""


@dataclass(frozen=True, kw_only=True)
class Project:
    """What looks may use. `changed` are the texts of the attempt that the next answer builds on.

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

    def text(self, path: str) -> str:
        """The text of a file as it is now. Raises `LookError` for one that is hidden, outside, large or not text."""
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
        try:
            text = self.snapshot.text(path)
        except GreenloopError as error:
            raise LookError(str(error)) from error
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

    async def files(self, suffix: str = "") -> list[str]:
        """The files of the project that are not hidden, those that are only in the change included."""
        found = await asyncio.to_thread(project_files, self.root, suffix)
        new = [path for path in self.changed if path.endswith(suffix) and is_project_path(self.root, path)]
        return [path for path in dict.fromkeys([*found, *new]) if not is_masked(path, self.masked)]


def text_argument(arguments: Arguments, name: str, *, needed: bool = True) -> str:
    """An argument that is a text; numbers are taken for their digits. Raises `LookError` where it is missing."""
    value = arguments.get(name, "")
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise LookError(f"`{name}` must be a text.")
    if needed and not value.strip():
        raise LookError(f"`{name}` is missing.")
    return value
