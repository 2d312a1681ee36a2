"""Compares a commit with what is staged: the code of the next commit, whatever the working tree has.

What judges comes from the commit, as in `project.revisions.revision`; all other code comes from the index.
This module must not know what is run on the result.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from functools import partial
from pathlib import PurePosixPath

from greenloop.project.hidden import is_masked
from greenloop.project.revisions import revision as working_tree
from greenloop.project.revisions.changes import find_changes, read_judges, trusted_paths
from greenloop.project.revisions.git import Repository, Tree
from greenloop.project.revisions.git_objects import LINK, TreeEntry, lfs_content
from greenloop.project.revisions.judging import IMPORTABLE, IsInstalled
from greenloop.project.revisions.revision import Revision


def compare_staged(
    repository: Repository,
    commit: str,
    *,
    masked: Sequence[str] = (),
    keep: Sequence[str] = (),
    allow: Sequence[str] = (),
    installed: IsInstalled = lambda _name, _data: False,
) -> Revision:
    """Compares the index with the commit. Laid over the working tree, the files of the result make it what is staged.

    `masked` files are hidden from tests and ignored; `keep` are glob patterns of files that are not staged and stay;
    `allow` and `installed` are those of `project.revisions.revision`.
    Raises `CannotVerifyError` for conflicts that are not resolved and for objects that this clone does not have.
    """
    root = repository.root
    tree, index = repository.tree(commit), repository.staged_tree()

    def staged_content(path: str) -> bytes | None:
        entry = index.entries.get(path)
        return None if entry is None else repository.contents([entry])[path]

    with read_judges(repository, tree, installed) as judges:
        edited = [path for path in _changed(tree, index) if not is_masked(path, masked)]
        changes = find_changes(
            judges,
            repository.contents(tree.entries[path] for path in edited),
            {path: partial(_content, repository, entry) for path, entry in _new(tree, index).items()},
            staged_content,
            allow,
        )
        trusted = trusted_paths(judges, tree, changes)

        def is_from_base(path: str) -> bool:
            return changes.is_from_base(path) or (path not in changes.roles and path in trusted)

        wanted = Tree(
            entries={path: entry for path, entry in tree.entries.items() if is_from_base(path)}
            | {path: entry for path, entry in index.entries.items() if not is_from_base(path)},
        )
        differing, _removed, links = working_tree.differing_paths(root, wanted, masked)
        links = [path for path in links if judges.role(path)]
        notes = working_tree.check_submodules(root, tree, judges.plain_role)
        on_disk = [path for path in working_tree.walk(root) if path not in wanted.entries]
        unstaged = [path for path in on_disk if not is_masked(path, masked)]
        unstaged_roles, _deciding = judges.roles_of_new(
            {path: partial(working_tree.content, root, path) for path in unstaged}
        )
        notes += judges.doubts(edited)
    notes += [f"{path} is a symbolic link; its target is used as it is now." for path in links]
    contents = repository.contents(wanted.entries[path] for path in differing)
    trusted_files, code = working_tree.sort_contents(root, contents, is_from_base, notes)
    kept = tuple(path for path in unstaged if any(fnmatch(path, pattern) for pattern in keep))
    left_out = [
        path
        for path in unstaged
        if path not in kept
        and (path in unstaged_roles or path in tree.entries or PurePosixPath(path).suffix in IMPORTABLE)
        and not path.startswith(tuple(f"{module}/" for module in index.missing_submodules))
    ]
    working_tree.refuse_links(root, [*trusted_files, *code, *left_out])
    from_base = [path for path in edited if changes.is_from_base(path)]
    added = tuple(path for path in _new(tree, index) if changes.is_from_base(path))
    result = Revision(
        commit=commit,
        state=_state(index, working_tree.state_of(root, [*differing, *links, *unstaged])),
        paths=frozenset(tree.entries),
        trusted=trusted,
        files={**trusted_files, **code},
        removed_paths=tuple(sorted({*left_out, *working_tree.caches(root)})),
        old_code=_old_code(repository, tree, index, masked, trusted),
        new_code=tuple(path for path in _new(tree, index) if path not in changes.roles),
        changed=tuple(path for path in from_base if path in index.entries),
        removed=tuple(sorted(path for path in from_base if path not in index.entries)),
        added=added,
        kept=kept,
        judging_changes=changes.named,
        notes=tuple(notes),
    )
    return replace(result, added_files=repository.contents(index.entries[path] for path in added))


def is_anything_staged(repository: Repository, commit: str) -> bool:
    """Does the index differ from the commit, below the workspace?"""
    tree, index = repository.tree(commit), repository.staged_tree()
    return tree.entries.keys() != index.entries.keys() or bool(_changed(tree, index))


def _changed(tree: Tree, index: Tree) -> list[str]:
    """The paths that the index lacks, or has with another content."""
    return [path for path, entry in tree.entries.items() if _identity(index.entries.get(path)) != _identity(entry)]


def _new(tree: Tree, index: Tree) -> Mapping[str, TreeEntry]:
    return {path: entry for path, entry in index.entries.items() if path not in tree.entries}


def _content(repository: Repository, entry: TreeEntry) -> bytes:
    return repository.contents([entry])[entry.path]


def _identity(entry: TreeEntry | None) -> tuple[str, bool] | None:
    return None if entry is None else (entry.oid, entry.mode == LINK)


def _old_code(
    repository: Repository, tree: Tree, index: Tree, masked: Sequence[str], trusted: Collection[str]
) -> Mapping[str, bytes]:
    """The commit's versions of code that the index has otherwise or not at all; files in Git LFS stay as they are."""
    paths = [path for path in _changed(tree, index) if path not in trusted and not is_masked(path, masked)]
    contents = repository.contents(tree.entries[path] for path in paths if tree.entries[path].mode != LINK)
    return {path: data for path, data in contents.items() if lfs_content(data) is None}


def _state(index: Tree, state: str) -> str:
    digest = hashlib.sha256(state.encode())
    for path, entry in sorted(index.entries.items()):
        digest.update(f"{path}\0{entry.oid}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
