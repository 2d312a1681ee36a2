"""Finds the files of a workspace that are hidden from the tests: secrets, by their names.

A pattern that begins with `!` is a path that is shown, whatever the others say, as in a .gitignore.
Test data is shown: a key below a folder of tests that git tracks, unchanged, is as public as the project is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from glob import escape
from pathlib import Path, PurePosixPath

from greenloop.core.errors import CannotVerifyError
from greenloop.project.revisions.git import Repository
from greenloop.project.revisions.git_objects import TreeEntry, is_same
from greenloop.project.settings import Settings
from greenloop_sandbox.records import is_shown

# Files that tests do not need; `sandbox.expose` removes patterns.
MASKED = (
    ".env*", "*.pem", "*.key", "*.p12", "*.pfx", "*.keystore", "*.jks", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", ".netrc", "_netrc", ".pypirc", ".npmrc", ".git-credentials", ".htpasswd", ".git", ".hg", ".svn",
    ".aws", ".azure", ".gcloud", ".kube", ".docker", ".gnupg", ".ssh", "credentials*", "secrets.*",
    "service-account*.json",
)  # fmt: skip

FOLDER_OF_TESTS = re.compile(r"(.*[_-])?tests?([_-].*)?|testing|testdata", re.IGNORECASE)


def masked_patterns(settings: Settings, root: Path | None = None) -> tuple[str, ...]:
    """Glob patterns (of names, at any depth) of files that the sandbox hides from tests; paths that it shows with `!`.

    With a `root` the test data that its repository tracks is shown too. Blocking.
    """
    exposed = settings.sandbox.expose
    patterns = tuple(
        pattern for pattern in MASKED if not any(each == pattern or fnmatch(pattern, each) for each in exposed)
    )
    shown = [each for each in exposed if "/" in each]
    if root is not None:
        shown += map(escape, _tracked_test_data(root, patterns))
    return (*patterns, *(f"!{path}" for path in shown))


def is_masked(path: str, patterns: Sequence[str]) -> bool:
    """Is the path, or one of its parent folders, hidden?"""
    parts = PurePosixPath(path).parts
    return any(fnmatch(part, pattern) for part in parts for pattern in patterns) and not is_shown(path, patterns)


def is_test_data(path: str, patterns: Sequence[str]) -> bool:
    folders = PurePosixPath(path).parent.parts
    return any(map(FOLDER_OF_TESTS.fullmatch, folders)) and is_masked(path, patterns)


def _tracked_test_data(root: Path, patterns: Sequence[str]) -> Iterator[str]:
    """Hidden files below folders of tests whose content is the one in git's index; none without a repository."""
    try:
        rows = Repository.find(root).output("ls-files", "--stage", "-z").split(b"\0")
    except CannotVerifyError:
        return
    for row in filter(None, rows):
        description, _tab, name = row.partition(b"\t")
        path = os.fsdecode(name)
        if is_test_data(path, patterns):
            mode, oid, _stage = description.decode().split()
            entry, file = TreeEntry(path=path, mode=mode, oid=oid), root / path
            if file.is_file() and not file.is_symlink() and is_same(entry, file.read_bytes()):
                yield path
