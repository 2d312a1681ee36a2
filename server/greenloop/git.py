"""What a revision of the project holds, read by git's plumbing alone.

The repository is not trusted: nothing that its configuration names is executed (no monitor, hook, filter, text
conversion, pager), nothing is fetched, no object is replaced by another, and no index is read or refreshed.
Every object is hashed here: given the name of a commit, no change of the repository changes what is read.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.core.errors import CannotVerify, UsageProblem
from greenloop.interpreters import safe_path

SECONDS = 120.0  # for one question to git
LINK, MODULE, FOLDER = "120000", "160000", "40000"
_HARMLESS = (
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "protocol.allow=never"),
    # Whose repository it is matters where git executes what it names; these questions execute nothing.
    *("-c", "safe.directory=*"),
    # A folder that merely looks like a bare repository would say what "the tests" are.
    *("-c", "safe.bareRepository=explicit"),
)
_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A file of a revision. `path` is relative to the workspace, `module` the submodule it lies in (or empty)."""

    path: str
    mode: str
    oid: str
    module: str = ""


@dataclass(frozen=True, kw_only=True)
class Tree:
    """The files of a revision by path; `unread` are submodules whose revision is not in this clone."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A repository seen from the workspace `root`, which may be a folder in it or a linked worktree."""

    root: Path
    program: str

    @classmethod
    def find(cls, root: Path) -> Repository:
        """The repository that the workspace lies in. Raises `CannotVerify` when there is no git or no repository."""
        program = shutil.which("git", path=safe_path(root, os.environ))
        if program is None:
            raise CannotVerify("There is no git, so the tests of a revision cannot be read.", remedy="Install git.")
        repository = cls(root=root, program=program)
        status, _out, err = repository._git("rev-parse", "--show-prefix")
        if status:
            raise CannotVerify(
                f"{root} is in no git repository that can be read{_because(err)}.",
                remedy="Verify takes the tests from a commit: run it in a clone, or commit the project first.",
            )
        return repository

    def commit(self, revision: str) -> str:
        """The commit's full name. Raises `UsageProblem` for one that does not exist, `CannotVerify` without commits."""
        found = self._name(revision)
        if found is not None:
            return found
        if self._name("HEAD") is None and revision in {"HEAD", "@"}:
            if self._git("rev-parse", "--verify", "--quiet", "HEAD")[0] == 0:
                raise CannotVerify(
                    "The commit of HEAD is not what its name says or is not in this clone.",
                    remedy="`git fsck` says more; clone the repository again.",
                )
            raise CannotVerify(
                "The repository has no commit yet, so there are no tests to trust.", remedy="Commit the tests first."
            )
        shallow = self._git("rev-parse", "--is-shallow-repository")[1].strip() == b"true"
        remedy = "`git log --oneline --all` lists what there is; `git fetch` brings what the remote has."
        if shallow:
            remedy = "This clone is shallow: `git fetch --unshallow` (in GitHub's checkout action: `fetch-depth: 0`)."
        raise UsageProblem(f"There is no commit '{revision}' in this repository.", remedy=remedy)

    def _name(self, revision: str) -> str | None:
        if not revision or revision.startswith("-") or any(char in revision for char in "\0\n"):
            return None
        status, out, _err = self._git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        return None if status else out.decode().strip()

    def tree(self, commit: str) -> Tree:
        """Every file of the revision below the workspace, submodules included where they are checked out."""
        head, _end, _rest = self.objects({commit}, "commit")[commit].partition(b"\n")
        top = head.removeprefix(b"tree ").decode()
        for part in filter(None, self._git("rev-parse", "--show-prefix")[1].rstrip(b"\n").split(b"/")):
            rows = _rows(self.objects({top}, "tree")[top], commit)
            top = next((oid for mode, name, oid in rows if name == part and mode == FOLDER), "")
            if not top:
                return Tree()
        entries: dict[str, Entry] = {}
        unread: list[str] = []
        level = {"": top}
        while level:
            found = self.objects(set(level.values()), "tree")
            below: dict[str, str] = {}
            for folder, tree in level.items():
                for mode, name, oid in _rows(found[tree], commit):
                    path = folder + os.fsdecode(name)
                    if mode == FOLDER:
                        below[f"{path}/"] = oid
                    elif mode != MODULE:
                        entries[path] = Entry(path=path, mode=mode, oid=oid)
                    elif (inner := self._submodule(path, oid)) is not None:
                        entries.update(inner.entries)
                        unread += inner.unread
                    else:
                        unread.append(path)
            level = below
        return Tree(entries=entries, unread=tuple(unread))

    def _submodule(self, path: str, oid: str) -> Tree | None:
        folder = self.root / path
        if folder.is_symlink() or not folder.is_dir():
            return None
        inner = Repository(root=folder, program=self.program)
        status, prefix, _err = inner._git("rev-parse", "--show-prefix")
        if status or prefix.strip() or inner._name(oid) is None:
            return None
        tree = inner.tree(oid)
        entries = {
            f"{path}/{entry.path}": Entry(
                path=f"{path}/{entry.path}",
                mode=entry.mode,
                oid=entry.oid,
                module=f"{path}/{entry.module}".rstrip("/"),
            )
            for entry in tree.entries.values()
        }
        return Tree(entries=entries, unread=tuple(f"{path}/{name}" for name in tree.unread))

    def contents(self, entries: Iterable[Entry]) -> dict[str, bytes]:
        """What the files hold, by path, as it was committed: no filters, no line ends converted.

        Raises `CannotVerify` when an object is not in this clone.
        """
        found: dict[str, bytes] = {}
        modules: dict[str, list[Entry]] = {}
        for entry in entries:
            modules.setdefault(entry.module, []).append(entry)
        for module, mine in modules.items():
            blobs = Repository(root=self.root / module, program=self.program).objects({entry.oid for entry in mine})
            found.update({entry.path: blobs[entry.oid] for entry in mine})
        return found

    def objects(self, oids: set[str], kind: str = "blob") -> dict[str, bytes]:
        """The objects of these names. git does not look whether they are what their names say; this does.

        Raises `CannotVerify` for one that is missing or is not what its name says.
        """
        if not oids:
            return {}
        asked = "".join(f"{oid}\n" for oid in sorted(oids)).encode()
        found = {
            oid: data for oid, known, data in _parts(self._git("cat-file", "--batch", given=asked)[1]) if known == kind
        }
        for oid in oids:
            if oid not in found:
                raise CannotVerify(
                    f"A {kind} of that revision ({oid[:12]}) is not in this clone.",
                    remedy="Fetch it: `git fetch --refetch`, or clone without `--filter`.",
                )
            if _oid(found[oid], oid, kind) != oid:
                raise CannotVerify(
                    f"A {kind} of that revision ({oid[:12]}) is not what its name says: the repository was damaged.",
                    remedy="`git fsck` says more; clone the repository again.",
                )
        return found

    def _git(self, *words: str, given: bytes = b"") -> tuple[int, bytes, str]:
        try:
            done = subprocess.run(
                [self.program, *_HARMLESS, *words],
                cwd=self.root,
                env=environment(os.environ),
                input=given,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CannotVerify(f"git did not answer within {SECONDS:g} s.", remedy="Try again.") from error
        except OSError as error:
            raise CannotVerify(f"git cannot be run ({error.strerror}).", remedy="Install git again.") from error
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables for git: none that redirects it, and those that keep it from asking, fetching and locking."""
    kept = {name: value for name, value in environ.items() if not name.upper().startswith("GIT_")}
    return {
        **kept,
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def is_same(entry: Entry, data: bytes) -> bool:
    """Is this what the revision has, line ends apart where the checkout made them CRLF?"""
    if _oid(data, entry.oid) == entry.oid:
        return True
    return b"\r\n" in data and _oid(data.replace(b"\r\n", b"\n"), entry.oid) == entry.oid


def lfs_content(data: bytes) -> str | None:
    """The SHA-256 of what a Git LFS pointer stands for; None when these bytes are no pointer."""
    match = _POINTER.match(data) if len(data) < 1024 else None
    return match[1].decode() if match else None


def _oid(data: bytes, like: str, kind: str = "blob") -> str:
    # A repository is named by SHA-1 or by SHA-256; the length of a name tells which.
    algorithm = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    return algorithm(b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest()


def _rows(tree: bytes, like: str) -> Iterator[tuple[str, bytes, str]]:
    """The (mode, name, object) of each entry of a tree; `like` is as long as its names.

    Raises `CannotVerify` for a name that could lead elsewhere.
    """
    place = 0
    width = len(like) // 2
    while place < len(tree):
        end = tree.index(b"\0", place)
        mode, _space, name = tree[place:end].partition(b" ")
        if name in {b"", b".", b".."} or b"/" in name:
            raise CannotVerify(f"The revision has a file with the name {name!r}.", remedy="Choose another revision.")
        yield mode.decode().lstrip("0"), name, tree[end + 1 : end + 1 + width].hex()
        place = end + 1 + width


def _parts(out: bytes) -> Iterator[tuple[str, str, bytes]]:
    """The (name, kind, content) in the answer of `cat-file --batch`; those that are missing are left out."""
    place = 0
    while (end := out.find(b"\n", place)) >= 0:
        head = out[place:end].decode().split()
        place = end + 1
        if len(head) == 3:
            size = int(head[2])
            yield head[0], head[1], out[place : place + size]
            place += size + 1


def _because(err: str) -> str:
    rows = [row.removeprefix("fatal: ").strip() for row in err.splitlines() if row.strip()]
    return f" ({rows[0].rstrip('.')})" if rows else ""
