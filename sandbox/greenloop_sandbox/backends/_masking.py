"""Finds the files that tests must not see; later scans read only folders that changed."""

# Plain strings: this walks many thousand paths.
# ruff: noqa: PTH110, PTH112, PTH116, PTH118

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from greenloop_sandbox.records import Mask, SandboxSpec

# Folders that may hold a hundred thousand files, none of them written by the user.
_SKIPPED_FOLDERS = frozenset(
    {".venv", "node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache", ".ruff_cache", "__pypackages__"}
)


@dataclass(frozen=True, kw_only=True)
class HiddenPaths:
    """Paths to cover, relative to the workspace or absolute: single files, and whole folders."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@dataclass
class _FolderListing:
    modified: int
    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    subfolders: list[str] = field(default_factory=list)


class WorkspaceScanner:
    """Scans the workspace and the interpreter's extra folders; hidden paths of the latter are absolute."""

    def __init__(self, spec: SandboxSpec) -> None:
        environment = spec.environment
        self._workspace = FolderScanner(spec.root, spec.masked, environment.prefix)
        extra_folders = [Path(os.path.realpath(path)) for path in environment.extra if path.is_dir()]
        self._others = [(folder, FolderScanner(folder, spec.masked, environment.prefix)) for folder in extra_folders]

    def scan(self) -> HiddenPaths:
        """The paths to hide at this moment. Blocking."""
        hidden = self._workspace.scan()
        files, folders = list(hidden.files), list(hidden.folders)
        for folder, scanner in self._others:
            hidden_there = scanner.scan()
            files += [str(folder / name) for name in hidden_there.files]
            folders += [str(folder / name) for name in hidden_there.folders]
        return HiddenPaths(files=tuple(files), folders=tuple(folders))


class FolderScanner:
    """Scans a folder and caches its listings; `scan` reads only changed folders again. Blocking: use a thread."""

    def __init__(self, root: Path, patterns: Sequence[str], interpreter: Path) -> None:
        self._root, self._mask, self._interpreter = str(root), Mask(patterns), os.path.realpath(interpreter)
        self._real_root = self._root
        self._listings: dict[str, _FolderListing] = {}

    def scan(self) -> HiddenPaths:
        """The paths to hide at this moment. Unreadable folders are hidden as a whole."""
        files: list[str] = []
        folders: list[str] = []
        if not self._mask.patterns:
            return HiddenPaths()
        self._real_root = os.path.realpath(self._root)
        listings: dict[str, _FolderListing] = {}
        pending = [""]
        while pending:
            relative = pending.pop()
            entry = self._listing(relative)
            if entry is None:
                if relative:
                    folders.append(relative)
                continue
            listings[relative] = entry
            files += entry.files
            folders += entry.folders
            pending += entry.subfolders
        self._listings = listings
        return HiddenPaths(files=tuple(sorted(set(files))), folders=tuple(sorted(set(folders))))

    def _listing(self, relative: str) -> _FolderListing | None:
        path = os.path.join(self._root, relative)
        try:
            modified = os.stat(path).st_mtime_ns
            cached = self._listings.get(relative)
            if cached is not None and cached.modified == modified:
                return cached
            entry = _FolderListing(modified)
            with os.scandir(path) as items:
                for item in items:
                    self._sort_in(item, f"{relative}/{item.name}" if relative else item.name, entry)
        except FileNotFoundError:
            return _FolderListing(0)
        except OSError:
            return None
        return entry

    def _sort_in(self, item: os.DirEntry[str], relative: str, entry: _FolderListing) -> None:
        is_folder = item.is_dir(follow_symlinks=False)
        real = os.path.join(self._real_root, relative)  # of a folder, as none below the root is reached by a link
        if is_folder and self._interpreter.startswith(real + os.sep):
            entry.subfolders.append(relative)  # the interpreter is below it: never hidden as a whole
        elif is_folder and (item.name in _SKIPPED_FOLDERS or real == self._interpreter):
            return
        elif self._mask.hides(relative):
            if item.is_symlink():
                self._hide_target(item.path, entry)
            else:
                (entry.folders if is_folder else entry.files).append(relative)
        elif is_folder and not os.path.exists(os.path.join(item.path, "pyvenv.cfg")):
            entry.subfolders.append(relative)

    def _hide_target(self, path: str, entry: _FolderListing) -> None:
        """Hides the target of a link, which cannot be covered itself. Targets outside the workspace are never shown."""
        real = os.path.realpath(path)
        if real.startswith(self._root + os.sep) and os.path.exists(real):
            (entry.folders if os.path.isdir(real) else entry.files).append(os.path.relpath(real, self._root))
