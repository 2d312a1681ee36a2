"""What differs between a revision and the working tree, told apart into what is trusted and what is code.

Trusted are tests, all that lies in their folders, conftests, and pytest's configuration: they are taken from the
revision, and what it does not have is left out. The rest is code, taken from the working tree.
It must not know what is run over it.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from greenloop import sources
from greenloop.core.errors import CannotVerify
from greenloop.git import LINK, Entry, Repository, Tree, is_same, lfs_content
from greenloop.workspace import is_masked

_IMPORTABLE = {".py", ".so", ".pyd", ".pyc"}
_SKIPPED = {".git", ".hg", ".svn", "node_modules"}
_CACHE = "__pycache__"


@dataclass(frozen=True, kw_only=True)
class Revision:
    """How the working tree differs from a commit. Paths are relative to the workspace.

    `files` are the trusted files that must be laid over the working tree, as the commit has them; `without` the
    trusted files that it does not have, and all cached bytecode.
    `old_code` and `new_code` are the same for all other files: with both, the working tree is the commit.
    `changed` and `removed` are trusted files of the commit, `added` those that it does not have, `kept` files that it
    does not have and that stay because the user said so. `notes` are sentences about what could not be told apart.
    `state` is a hash of all that differs in the working tree; another one means that it was changed meanwhile.
    """

    commit: str
    state: str
    paths: frozenset[str]
    trusted: frozenset[str]
    files: Mapping[str, bytes]
    without: tuple[str, ...]
    old_code: Mapping[str, bytes]
    new_code: tuple[str, ...]
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def code_changed(self) -> bool:
        return bool(self.old_code or self.new_code)


def is_fixed(path: str, patterns: Sequence[str]) -> bool:
    """Is the file trusted: taken from the revision, never from the working tree?"""
    pure = PurePosixPath(path)
    if pure.suffix in {".cfg", ".ini", ".toml"} and pure.name not in sources.CONFIGURATION:
        # Data of the code, unless tests keep it.
        return any(part in {"test", "tests"} for part in pure.parts[:-1])
    return sources.is_trusted(path, patterns)


def compare(repository: Repository, commit: str, *, masked: Sequence[str] = (), keep: Sequence[str] = ()) -> Revision:
    """Compares the workspace with the commit. `masked` files are hidden from tests and left alone.

    `keep` are glob patterns of files that the commit does not have and that stay (generated ones).
    Raises `CannotVerify` where a trusted file cannot be had as it was.
    """
    root = repository.root
    tree = repository.tree(commit)
    fixed = _predicate(repository, tree)
    if lost := next((module for module in tree.unread if _holds_trusted(root, module, fixed)), None):
        raise CannotVerify(
            f"The submodule {lost} holds tests, but its own revision is not in this clone.",
            remedy="`git submodule update --init --recursive` fetches it.",
        )
    differing, removed, links = _differing(root, tree, masked, fixed)
    contents = repository.contents(tree.entries[path] for path in differing)
    notes = [f"{path} is a link; what it names is taken as it is now." for path in links]
    notes += [f"The submodule {module} is taken as it lies there; its revision is not here." for module in tree.unread]
    files, old_code = _sorted(root, contents, fixed, notes)
    unknown = [path for path in _walk(root) if path not in tree.entries and not is_masked(path, masked)]
    kept = tuple(path for path in unknown if any(fnmatch(path, pattern) for pattern in keep))
    added = [path for path in unknown if path not in kept]
    ours = frozenset(path for path in tree.entries if fixed(path))
    trusted = [path for path in added if fixed(path)]
    _refuse_links(root, [*files, *trusted, *{f"{posixpath.dirname(path)}/" for path in ours if "/" in path}])
    changed = tuple(path for path in differing if path in files and path not in removed)
    inside_unread = tuple(f"{module}/" for module in tree.unread)
    return Revision(
        commit=commit,
        state=_state(root, [*differing, *links, *unknown]),
        paths=frozenset(tree.entries),
        trusted=ours,
        files=files,
        without=tuple(sorted({*trusted, *_caches(root)})),
        old_code=old_code,
        new_code=tuple(
            path
            for path in added
            if not fixed(path) and PurePosixPath(path).suffix in _IMPORTABLE and not path.startswith(inside_unread)
        ),
        changed=changed,
        removed=tuple(path for path in files if path in removed),
        added=tuple(trusted),
        kept=kept,
        notes=tuple(notes),
    )


def _predicate(repository: Repository, tree: Tree) -> Callable[[str], bool]:
    """Which files are trusted, by the revision's own configuration; what a trusted link names is trusted too."""
    present = [tree.entries[name] for name in sources.CONFIGURATION if name in tree.entries]
    with tempfile.TemporaryDirectory(prefix="greenloop-") as folder:
        for name, data in repository.contents(entry for entry in present if entry.mode != LINK).items():
            (Path(folder) / name).write_bytes(data)
        patterns = sources.file_patterns(Path(folder))
    links = [entry for entry in tree.entries.values() if entry.mode == LINK and is_fixed(entry.path, patterns)]
    named = repository.contents(links)
    targets = {
        posixpath.normpath(posixpath.join(posixpath.dirname(path), os.fsdecode(data))) for path, data in named.items()
    }

    def fixed(path: str) -> bool:
        if is_fixed(path, patterns):
            return True
        return bool(targets) and any(path == target or path.startswith(f"{target}/") for target in targets)

    return fixed


def _differing(
    root: Path, tree: Tree, masked: Sequence[str], fixed: Callable[[str], bool]
) -> tuple[list[str], set[str], list[str]]:
    """The paths whose content is not the revision's, those of them that are gone, and trusted links that differ."""
    differing, removed, links = [], set(), []
    for path, entry in sorted(tree.entries.items()):
        if is_masked(path, masked):
            continue
        file = root / path
        if entry.mode == LINK:
            if _link_differs(file, entry) and fixed(path):
                links.append(path)
            continue
        data = None if file.is_symlink() else _read(file)
        if data is None:
            removed.add(path)
        if data is None or not is_same(entry, data):
            differing.append(path)
    return differing, removed, links


def _link_differs(file: Path, entry: Entry) -> bool:
    return not file.is_symlink() or not is_same(entry, os.fsencode(file.readlink()))


def _sorted(
    root: Path, contents: Mapping[str, bytes], fixed: Callable[[str], bool], notes: list[str]
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Trusted files and code; what Git LFS keeps elsewhere differs only where its hash does."""
    files: dict[str, bytes] = {}
    code: dict[str, bytes] = {}
    for path, data in contents.items():
        elsewhere = lfs_content(data)
        if elsewhere is not None:
            now = _read(root / path)
            if now is not None and hashlib.sha256(now).hexdigest() == elsewhere:
                continue
            if fixed(path):
                raise CannotVerify(
                    f"{path} is kept by Git LFS and is not as the revision has it.",
                    remedy=f"Bring it back: `git lfs pull` or `git checkout -- {path}`.",
                )
            notes.append(f"{path} is kept by Git LFS; the earlier run had it as it is now.")
            continue
        (files if fixed(path) else code)[path] = data
    return files, code


def _state(root: Path, paths: Sequence[str]) -> str:
    """Over names of all and contents of what Python could run or tests read; big data counts by size and time."""
    digest = hashlib.sha256()
    for path in paths:
        file = root / path
        if PurePosixPath(path).suffix in _IMPORTABLE:
            digest.update(_read(file) or b"")
        try:
            status = file.lstat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
        except OSError:
            digest.update(f"{path}\0gone\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _walk(root: Path) -> Iterator[str]:
    """Every file of the workspace but caches, environments and what version control keeps; links are not followed."""
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


def _caches(root: Path) -> Iterator[str]:
    """Cached bytecode: Python may believe it without reading the source, so none of it may stay."""
    for folder, folders, _names in os.walk(root):
        folders[:] = [name for name in folders if name not in _SKIPPED and not _is_environment(folder, name)]
        if _CACHE in folders:
            folders.remove(_CACHE)
            cache = Path(folder) / _CACHE
            yield from (file.relative_to(root).as_posix() for file in sorted(cache.glob("*.pyc")))


def _holds_trusted(root: Path, module: str, fixed: Callable[[str], bool]) -> bool:
    folder = root / module
    return folder.is_dir() and any(fixed(f"{module}/{path}") for path in _walk(folder))


def _refuse_links(root: Path, paths: Sequence[str]) -> None:
    """Nothing is laid over or left out through a link: it could stand for any other file."""
    for path in paths:
        here = root
        for part in filter(None, path.split("/")):
            here /= part
            if here.is_symlink():
                name = here.relative_to(root).as_posix()
                raise CannotVerify(
                    f"{name} is a link, and the revision has none there.",
                    remedy=f"Remove it, or bring back what the revision has: `git checkout -- {name}`.",
                )


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes() if file.is_file() else None  # a pipe would never end
    except OSError:
        return None
