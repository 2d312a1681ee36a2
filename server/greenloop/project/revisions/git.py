"""Reads the files of a revision with git's plumbing commands only.

The repository is not trusted: nothing that its configuration names is executed (no monitor, hook, filter, text
conversion, pager), nothing is fetched, no object is replaced by another, and no index is refreshed.
Every object's hash is checked: for a given commit name, no change to the repository can change what is read.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.project.environment.programs import safe_path
from greenloop.project.revisions.git_objects import (
    FOLDER,
    MODULE,
    TreeEntry,
    batch_objects,
    object_id,
    tree_rows,
)

SECONDS = 120.0  # for one call of git
INDEX_FILE = "GIT_INDEX_FILE"  # `git commit FILE` has an index of its own
_HARMLESS = (
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "protocol.allow=never"),
    # The owner of a repository matters only when git executes what it names; these commands execute nothing.
    *("-c", "safe.directory=*"),
    # A folder that merely looks like a bare repository must not decide what "the tests" are.
    *("-c", "safe.bareRepository=explicit"),
)


@dataclass(frozen=True, kw_only=True)
class Tree:
    """The files of a revision by path; `missing_submodules` are those whose revision is not in this clone."""

    entries: Mapping[str, TreeEntry] = field(default_factory=dict)
    missing_submodules: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A repository seen from the workspace `root`, which may be a subfolder or a linked worktree."""

    root: Path
    program: str

    @classmethod
    def find(cls, root: Path) -> Repository:
        """The repository that contains the workspace.

        Raises `CannotVerifyError` without git or without a repository.
        """
        program = shutil.which("git", path=safe_path(root, os.environ))
        if program is None:
            raise CannotVerifyError(
                "git was not found on PATH; without it no commit can be read.", remedy="Install git."
            )
        repository = cls(root=root, program=program)
        status, _out, stderr = repository._git("rev-parse", "--show-prefix")
        if status:
            raise CannotVerifyError(
                f"{root} is not in a readable git repository{_error_message(stderr)}.",
                remedy="Run it in a clone, or commit the project first.",
            )
        return repository

    def commit(self, revision: str) -> str:
        """The commit's full hash.

        Raises `UsageError` if it does not exist, `CannotVerifyError` if there is no commit.
        """
        commit = self._resolve_name(revision)
        if commit is not None:
            return commit
        if self._resolve_name("HEAD") is None and revision in {"HEAD", "@"}:
            if self._git("rev-parse", "--verify", "--quiet", "HEAD")[0] == 0:
                raise CannotVerifyError(
                    "The commit of HEAD is damaged or missing from this clone.",
                    remedy="`git fsck` shows details; clone the repository again.",
                )
            raise CannotVerifyError(
                "The repository has no commits yet, so there are no committed tests to run.",
                remedy="Commit the tests first.",
            )
        shallow = self._git("rev-parse", "--is-shallow-repository")[1].strip() == b"true"
        remedy = "`git log --oneline --all` lists the commits of this clone; `git fetch` gets those of the remote."
        if shallow:
            remedy = "This clone is shallow: `git fetch --unshallow` (in GitHub's checkout action: `fetch-depth: 0`)."
        raise UsageError(f"There is no commit '{revision}' in this repository.", remedy=remedy)

    def _resolve_name(self, revision: str) -> str | None:
        if not revision or revision.startswith("-") or any(char in revision for char in "\0\n"):
            return None
        status, stdout, _err = self._git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        return None if status else stdout.decode().strip()

    def tree(self, commit: str) -> Tree:
        """Every file of the revision below the workspace, including checked-out submodules."""
        header, _end, _rest = self.objects({commit}, "commit")[commit].partition(b"\n")
        tree_id = header.removeprefix(b"tree ").decode()
        for part in filter(None, self._git("rev-parse", "--show-prefix")[1].rstrip(b"\n").split(b"/")):
            children = tree_rows(self.objects({tree_id}, "tree")[tree_id], commit)
            tree_id = next((oid for mode, name, oid in children if name == part and mode == FOLDER), "")
            if not tree_id:
                return Tree()
        entries: dict[str, TreeEntry] = {}
        unread: list[str] = []
        level = {"": tree_id}
        while level:
            trees = self.objects(set(level.values()), "tree")
            next_level: dict[str, str] = {}
            for folder, tree in level.items():
                for mode, name, oid in tree_rows(trees[tree], commit):
                    path = folder + os.fsdecode(name)
                    if mode == FOLDER:
                        next_level[f"{path}/"] = oid
                    else:
                        self._add(TreeEntry(path=path, mode=mode, oid=oid), entries, unread)
            level = next_level
        return Tree(entries=entries, missing_submodules=tuple(unread))

    def staged_tree(self) -> Tree:
        """Every file of the index below the workspace, including checked-out submodules.

        The index is the one that `GIT_INDEX_FILE` names, as git does in a hook, else the repository's own.
        Raises `CannotVerifyError` for a file with conflicts.
        """
        entries: dict[str, TreeEntry] = {}
        unread: list[str] = []
        for row in filter(None, self.output("ls-files", "--stage", "-z", index=True).split(b"\0")):
            description, _tab, name = row.partition(b"\t")
            mode, oid, stage = description.decode().split()
            path = os.fsdecode(name)
            if stage != "0":
                raise CannotVerifyError(
                    f"{path} has conflicts that are not resolved.", remedy=f"Resolve them, then `git add {path}`."
                )
            self._add(TreeEntry(path=path, mode=mode, oid=oid), entries, unread)
        return Tree(entries=entries, missing_submodules=tuple(unread))

    def _add(self, entry: TreeEntry, entries: dict[str, TreeEntry], unread: list[str]) -> None:
        """Adds a file, or what a submodule has; the path of one that is not checked out goes to `unread`."""
        if entry.mode != MODULE:
            entries[entry.path] = entry
        elif (nested := self._submodule(entry.path, entry.oid)) is not None:
            entries.update(nested.entries)
            unread += nested.missing_submodules
        else:
            unread.append(entry.path)

    def _submodule(self, path: str, oid: str) -> Tree | None:
        folder = self.root / path
        if folder.is_symlink() or not folder.is_dir():
            return None
        nested = Repository(root=folder, program=self.program)
        status, prefix_output, _err = nested._git("rev-parse", "--show-prefix")
        if status or prefix_output.strip() or nested._resolve_name(oid) is None:
            return None
        tree = nested.tree(oid)
        entries = {
            f"{path}/{name}": replace(entry, path=f"{path}/{name}", submodule=f"{path}/{entry.submodule}".rstrip("/"))
            for name, entry in tree.entries.items()
        }
        return Tree(entries=entries, missing_submodules=tuple(f"{path}/{name}" for name in tree.missing_submodules))

    def contents(self, entries: Iterable[TreeEntry]) -> dict[str, bytes]:
        """The files' committed contents by path: no filters, no line endings converted.

        Raises `CannotVerifyError` when an object is not in this clone.
        """
        contents: dict[str, bytes] = {}
        modules: dict[str, list[TreeEntry]] = {}
        for entry in entries:
            modules.setdefault(entry.submodule, []).append(entry)
        for module, module_entries in modules.items():
            blobs = Repository(root=self.root / module, program=self.program).objects(
                {entry.oid for entry in module_entries}
            )
            contents.update({entry.path: blobs[entry.oid] for entry in module_entries})
        return contents

    def objects(self, oids: set[str], kind: str = "blob") -> dict[str, bytes]:
        """Reads objects and checks their hashes, which git itself does not do on reading.

        Raises `CannotVerifyError` for an object that is missing or does not match its hash.
        """
        if not oids:
            return {}
        query = "".join(f"{oid}\n" for oid in sorted(oids)).encode()
        contents = {
            oid: data
            for oid, actual_kind, data in batch_objects(self._git("cat-file", "--batch", stdin=query)[1])
            if actual_kind == kind
        }
        for oid in oids:
            if oid not in contents:
                raise CannotVerifyError(
                    f"A {kind} of that revision ({oid[:12]}) is not in this clone.",
                    remedy="Fetch it: `git fetch --refetch`, or clone without `--filter`.",
                )
            if object_id(contents[oid], oid, kind) != oid:
                raise CannotVerifyError(
                    f"A {kind} of that revision ({oid[:12]}) does not match its hash: the repository is damaged.",
                    remedy="`git fsck` shows details; clone the repository again.",
                )
        return contents

    def output(self, *arguments: str, stdin: bytes = b"", index: bool = False) -> bytes:
        """Returns the output of a plumbing command; `index`: it reads the index that git names in a hook.

        Raises `CannotVerifyError` where it fails or takes too long.
        """
        status, stdout, stderr = self._git(*arguments, stdin=stdin, index=index)
        if status:
            raise CannotVerifyError(
                f"git {arguments[0]} failed in {self.root}{_error_message(stderr)}.",
                remedy="`git fsck` shows details; clone the repository again.",
            )
        return stdout

    def _git(self, *arguments: str, stdin: bytes = b"", index: bool = False) -> tuple[int, bytes, str]:
        environ = git_environment(os.environ)
        if index and (file := os.environ.get(INDEX_FILE)):
            environ[INDEX_FILE] = os.path.abspath(file)  # noqa: PTH100 - git means the hook's folder
        try:
            completed = subprocess.run(
                [self.program, *_HARMLESS, *arguments],
                cwd=self.root,
                env=environ,
                input=stdin,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CannotVerifyError(f"git did not answer within {SECONDS:g} s.", remedy="Try again.") from error
        except OSError as error:
            raise CannotVerifyError(f"git cannot be run ({error.strerror}).", remedy="Install git again.") from error
        return completed.returncode, completed.stdout, completed.stderr.decode("utf-8", "replace")


def git_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Environment variables for git: none that redirect it, and those that stop it prompting, fetching and locking."""
    inherited = {name: value for name, value in environ.items() if not name.upper().startswith("GIT_")}
    return {
        **inherited,
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _error_message(stderr: str) -> str:
    messages = [row.removeprefix("fatal: ").strip() for row in stderr.splitlines() if row.strip()]
    return f" ({messages[0].rstrip('.')})" if messages else ""
