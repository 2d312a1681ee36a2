"""Reads which files the commits of a repository changed, and lays out the tree of a commit in a folder.

Plumbing commands only, as in `project/revisions/git.py` of greenloop. It must not know what the files are for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.errors import UsageError
from greenloop.project.revisions.git import Repository
from greenloop.project.revisions.git_objects import LINK

ABSENT = "0"  # the one digit of the object id of a file that does not exist


@dataclass(frozen=True, kw_only=True)
class Change:
    """A file that a commit changed: its object ids before and after, empty where the file did not exist."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Commit:
    """A commit with one parent, and the files that it changed below the workspace, without links and submodules."""

    id: str
    parent: str
    changes: tuple[Change, ...]


def read_commits(repository: Repository, revisions: str, *, most: int) -> list[Commit]:
    """The newest `most` commits of `A..B`, or those that lead to one revision; newest first, without merges.

    A commit at the border of a shallow clone has no parent there and is left out.
    Raises `UsageError` for a revision that does not exist, `CannotVerifyError` for a damaged repository.
    """
    old, dots, new = revisions.partition("..")
    if new.startswith("."):
        raise UsageError(f"The range '{revisions}' has three dots.", remedy="Write it with two: OLD..NEW.")
    names = [repository.commit(new or "HEAD"), f"^{repository.commit(old or 'HEAD')}"] if dots else []
    names = names or [repository.commit(revisions or "HEAD")]
    # Merges count, so that a history of nothing else is bounded too.
    rows = (
        repository.output("rev-list", "--parents", "--topo-order", f"--max-count={most}", *names).decode().split("\n")
    )
    parents = {words[0]: words[1] for row in rows if len(words := row.split()) == 2}
    changes = _changes(repository, list(parents))
    return [Commit(id=each, parent=parent, changes=changes.get(each, ())) for each, parent in parents.items()]


def _changes(repository: Repository, commits: Sequence[str]) -> dict[str, tuple[Change, ...]]:
    """The changed files of each commit."""
    if not commits:
        return {}
    # Trees are compared, not texts: no filter, text conversion or external program has a part in it.
    arguments = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--relative")
    output = repository.output(*arguments, stdin="".join(f"{commit}\n" for commit in commits).encode())
    found: dict[str, list[Change]] = {}
    for commit, change in _rows(output):
        found.setdefault(commit, []).append(change)
    return {commit: tuple(changes) for commit, changes in found.items()}


def _rows(output: bytes) -> Iterator[tuple[str, Change]]:
    """The (commit, change) pairs of `diff-tree -z --raw`: a commit's id, then for each file its modes and its path."""
    words = iter(output.split(b"\0"))
    commit = ""
    for word in words:
        text = word.decode("ascii", "replace").strip()
        if not text.startswith(":"):
            commit = text or commit
            continue
        old_mode, new_mode, old, new, _status = text[1:].split()
        path = os.fsdecode(next(words))
        if {old_mode, new_mode} <= {"000000", "100644", "100755"}:
            yield commit, Change(path=path, old=old.strip(ABSENT) and old, new=new.strip(ABSENT) and new)


def blobs(repository: Repository, changes: Sequence[Change]) -> dict[str, bytes]:
    """The contents of the changed files by object id, before and after.

    Raises `CannotVerifyError` when one is not in this clone.
    """
    return repository.objects({oid for change in changes for oid in (change.old, change.new) if oid})


def lay_out_commit(repository: Repository, commit: str, folder: Path) -> None:
    """Writes the files of a commit below an empty folder, with the history that leads to it and nothing later.

    The history is read from the repository's own objects; nothing is written there. Links that lead out of the folder
    and submodules without their revision are left out.
    Raises `CannotVerifyError` when the commit is not in this clone.
    """
    tree = repository.tree(commit)
    contents = repository.contents(tree.entries.values())
    for path, data in contents.items():
        file, mode = folder / path, tree.entries[path].mode
        file.parent.mkdir(parents=True, exist_ok=True)
        if mode == LINK:
            target = os.fsdecode(data)
            inside = Path(os.path.normpath(file.parent / target)).is_relative_to(folder)
            if inside and not Path(target).is_absolute():
                file.symlink_to(target)
            continue
        file.write_bytes(data)
        if mode == "100755":
            file.chmod(0o755)
    if not repository.output("rev-parse", "--show-prefix").strip():  # the history of a subfolder has other paths
        _add_history(repository, commit, folder / ".git")


def _add_history(repository: Repository, commit: str, folder: Path) -> None:
    """A repository whose HEAD is the commit. Its objects are those of the other one (gitrepository-layout(5))."""
    objects = repository.output("rev-parse", "--path-format=absolute", "--git-path", "objects").decode().rstrip("\n")
    (folder / "objects" / "info").mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "HEAD").write_text(f"{commit}\n")
    (folder / "objects" / "info" / "alternates").write_text(f"{objects}\n")
    config = "[core]\n\trepositoryformatversion = 0\n"
    if len(commit) == 64:
        config = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"
    (folder / "config").write_text(config)
