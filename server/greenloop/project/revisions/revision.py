"""Compares a revision with the working tree, separating what judges from code.

What judges (`project.revisions.judging`) is taken from the revision, and what it lacks of that is left out, unless the
user allows a change of it. Everything else is code and taken from the working tree.
This module must not know what is run on the result.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import partial
from pathlib import Path, PurePosixPath

from greenloop.core.errors import CannotVerifyError
from greenloop.project.hidden import is_masked
from greenloop.project.revisions.changes import find_changes, read_judges, trusted_paths
from greenloop.project.revisions.git import Repository, Tree
from greenloop.project.revisions.git_objects import LINK, is_same, lfs_content
from greenloop.project.revisions.judging import IMPORTABLE, IsInstalled, JudgingChange

_SKIPPED = {".git", ".hg", ".svn", "node_modules"}
_CACHE = "__pycache__"
_DATA = (".cfg", ".csv", ".ini", ".json", ".toml", ".tsv", ".txt", ".yaml", ".yml")
_SMALL = 20_000  # bytes of a file that somebody may have written for a few tests


@dataclass(frozen=True, kw_only=True)
class Revision:
    """Differences of the working tree from a commit. Paths are relative to the workspace.

    `trusted_files` are the commit's versions of the trusted files that differ, to be laid over the working tree;
    `excluded_files` are trusted files that the commit lacks, and all cached bytecode.
    `old_code` and `new_code` are the same for all other files: with both, the working tree equals the commit.
    `new_data` are small new files from which the code may read, and which nothing imports.
    `changed` and `removed` are trusted files of the commit; `added` are those that it lacks; `kept` are files that it
    lacks and that stay because the user asked for it; `added_files` are contents of `added` ones that the disk may lack
    (what is staged). `judging_changes` are those of them that decide over the commit's tests, and those that the user
    allows: they are in none of these lists, for they judge as they are. `notes` are sentences about what could not be
    compared or distinguished.
    `state` is a hash of everything that differs in the working tree; it changes when the working tree is edited.
    """

    commit: str
    state: str
    paths: frozenset[str]
    trusted: frozenset[str]
    files: Mapping[str, bytes]
    removed_paths: tuple[str, ...]
    old_code: Mapping[str, bytes]
    new_code: tuple[str, ...]
    new_data: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    judging_changes: tuple[JudgingChange, ...] = ()
    added_files: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def code_changed(self) -> bool:
        return bool(self.old_code or self.new_code)


def compare(
    repository: Repository,
    commit: str,
    *,
    masked: Sequence[str] = (),
    keep: Sequence[str] = (),
    allow: Sequence[str] = (),
    installed: IsInstalled = lambda _name, _data: False,
) -> Revision:
    """Compares the workspace with the commit. `masked` files are hidden from tests and ignored.

    `keep` are glob patterns of files that the commit lacks and that stay (generated ones). `allow` are paths, folders
    and globs of what judges as the working tree has it. `installed` says whether the environment has a top-level module
    other than this content. Raises `CannotVerifyError` when the committed version of a file that judges is not
    available.
    """
    root = repository.root
    tree = repository.tree(commit)
    with read_judges(repository, tree, installed) as judges:
        notes = check_submodules(root, tree, judges.plain_role)
        differing, removed, links = differing_paths(root, tree, masked)
        links = [path for path in links if judges.role(path)]
        contents = repository.contents(tree.entries[path] for path in differing)
        notes += [f"{path} is a symbolic link; its target is used as it is now." for path in links]
        untracked = [path for path in walk(root) if path not in tree.entries and not is_masked(path, masked)]
        kept = tuple(path for path in untracked if any(fnmatch(path, pattern) for pattern in keep))
        added = [path for path in untracked if path not in kept]
        changes = find_changes(
            judges,
            {**dict.fromkeys(links, b""), **contents},
            {path: partial(content, root, path) for path in added},
            lambda path: _read(root / path),
            allow,
        )
        notes += judges.doubts(differing)
        trusted = trusted_paths(judges, tree, changes)
    allowed = changes.allowed()
    files, old_code = sort_contents(
        root, {path: data for path, data in contents.items() if path not in allowed}, changes.is_from_base, notes
    )
    added_trusted = [path for path in added if path in changes.roles]
    refuse_links(root, [*files, *added_trusted, *{f"{posixpath.dirname(path)}/" for path in trusted if "/" in path}])
    changed = tuple(path for path in differing if path in files and path not in removed)
    added_trusted = [path for path in added_trusted if path not in allowed]
    inside_unread = tuple(f"{module}/" for module in tree.missing_submodules)
    return Revision(
        commit=commit,
        state=state_of(root, [*differing, *links, *untracked]),
        paths=frozenset(tree.entries),
        trusted=trusted,
        files=files,
        removed_paths=tuple(sorted({*added_trusted, *caches(root)})),
        old_code=old_code,
        new_code=tuple(
            path
            for path in added
            if path not in changes.roles
            and PurePosixPath(path).suffix in IMPORTABLE
            and not path.startswith(inside_unread)
        ),
        new_data=tuple(path for path in added if path not in changes.roles and _is_small_data(root / path)),
        changed=changed,
        removed=tuple(path for path in files if path in removed),
        added=tuple(added_trusted),
        kept=kept,
        judging_changes=changes.named,
        notes=tuple(notes),
    )


def _is_small_data(path: Path) -> bool:
    try:
        return path.suffix in _DATA and path.stat().st_size <= _SMALL
    except OSError:
        return False


def check_submodules(root: Path, tree: Tree, role: Callable[[str], str]) -> list[str]:
    """Sentences about submodules that are not in this clone. Raises `CannotVerifyError` for one that has tests."""
    for module in tree.missing_submodules:
        if (root / module).is_dir() and any(role(f"{module}/{path}") for path in walk(root / module)):
            raise CannotVerifyError(
                f"The submodule {module} contains tests, but its recorded revision is not in this clone.",
                remedy="Fetch it: `git submodule update --init --recursive`",
            )
    return [
        f"The submodule {module} is used as checked out, because its recorded revision is not in this clone."
        for module in tree.missing_submodules
    ]


def differing_paths(root: Path, tree: Tree, masked: Sequence[str]) -> tuple[list[str], set[str], list[str]]:
    """The paths whose content differs from the revision, the deleted ones among them, and changed links."""
    differing, removed, links = [], set(), []
    for path, entry in sorted(tree.entries.items()):
        if is_masked(path, masked):
            continue
        file = root / path
        if entry.mode == LINK:
            if not file.is_symlink() or not is_same(entry, os.fsencode(file.readlink())):
                links.append(path)
            continue
        data = None if file.is_symlink() else _read(file)
        if data is None:
            removed.add(path)
        if data is None or not is_same(entry, data):
            differing.append(path)
    return differing, removed, links


def sort_contents(
    root: Path, contents: Mapping[str, bytes], is_trusted: Callable[[str], bool], notes: list[str]
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Splits contents into trusted files and code; files in Git LFS are compared by their hash."""
    files: dict[str, bytes] = {}
    code: dict[str, bytes] = {}
    for path, data in contents.items():
        lfs_hash = lfs_content(data)
        if lfs_hash is not None:
            current = _read(root / path)
            if current is not None and hashlib.sha256(current).hexdigest() == lfs_hash:
                continue
            if is_trusted(path):
                raise CannotVerifyError(
                    f"{path} is stored in Git LFS and differs from the revision.",
                    remedy=f"Restore it: `git lfs pull` or `git checkout -- {path}`.",
                )
            notes.append(f"{path} is stored in Git LFS; the earlier run used it as it is now.")
            continue
        (files if is_trusted(path) else code)[path] = data
    return files, code


def state_of(root: Path, paths: Sequence[str]) -> str:
    """A hash over paths, sizes, times and, for importable files, contents; large data counts by size and time only."""
    digest = hashlib.sha256()
    for path in paths:
        file = root / path
        if PurePosixPath(path).suffix in IMPORTABLE:
            digest.update(_read(file) or b"")
        try:
            status = file.lstat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
        except OSError:
            digest.update(f"{path}\0gone\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def walk(root: Path) -> Iterator[str]:
    """Every file of the workspace except caches, environments and version control; links are not followed."""
    for folder, folders, names in os.walk(root):
        prefix = os.path.relpath(folder, root).replace(os.sep, "/")
        prefix = "" if prefix == "." else f"{prefix}/"
        linked = [name for name in folders if (Path(folder) / name).is_symlink()]
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED and name != _CACHE and name not in linked and not _is_environment(folder, name)
        )
        for name in sorted([*names, *linked]):
            yield prefix + name


def _is_environment(folder: str, name: str) -> bool:
    return any((Path(folder) / name / mark).exists() for mark in ("pyvenv.cfg", "conda-meta"))


def caches(root: Path) -> Iterator[str]:
    """Cached bytecode: Python may use it without reading the source, so all of it must be left out."""
    for folder, folders, _names in os.walk(root):
        folders[:] = [name for name in folders if name not in _SKIPPED and not _is_environment(folder, name)]
        if _CACHE in folders:
            folders.remove(_CACHE)
            cache = Path(folder) / _CACHE
            yield from (file.relative_to(root).as_posix() for file in sorted(cache.glob("*.pyc")))


def refuse_links(root: Path, paths: Sequence[str]) -> None:
    """Raises `CannotVerifyError` for paths that go through a link: it could lead to any other file."""
    for path in paths:
        location = root
        for part in filter(None, path.split("/")):
            location /= part
            if location.is_symlink():
                name = location.relative_to(root).as_posix()
                raise CannotVerifyError(
                    f"{name} is a symbolic link, which the revision does not have.",
                    remedy=f"Remove it, or restore the revision's file: `git checkout -- {name}`.",
                )


def content(root: Path, path: str) -> bytes:
    """The content of a file of the workspace; empty for what is none."""
    return _read(root / path) or b""


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes() if file.is_file() else None  # reading a named pipe would block
    except OSError:
        return None
