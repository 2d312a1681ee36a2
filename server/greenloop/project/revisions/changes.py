"""Finds which changed files judge, by a revision's own files, and which of these changes the user allows.

It must not know where the changed contents come from.
"""

from __future__ import annotations

import os
import posixpath
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from greenloop.project import sources
from greenloop.project.revisions.base_modules import lay_out
from greenloop.project.revisions.git import Repository, Tree
from greenloop.project.revisions.git_objects import LINK
from greenloop.project.revisions.judging import (
    IsInstalled,
    Judges,
    JudgingChange,
    is_allowed,
    is_harmless_edit,
    role_by_name,
)


@dataclass(frozen=True, kw_only=True)
class Changes:
    """The changed files that judge: their roles by path, what is named of them, and what the user allows (`allow`)."""

    roles: Mapping[str, str]
    named: tuple[JudgingChange, ...]
    allow: Sequence[str]

    def is_from_base(self, path: str) -> bool:
        """Does the revision's version of a changed file count?"""
        return path in self.roles and not is_allowed(path, self.allow)

    def allowed(self) -> set[str]:
        return {path for path in self.roles if is_allowed(path, self.allow)}


@contextmanager
def read_judges(repository: Repository, tree: Tree, installed: IsInstalled) -> Iterator[Judges]:
    """Yields the judges by the revision's own files; they work for as long as the context lasts."""
    files = {path: entry for path, entry in tree.entries.items() if entry.mode != LINK}
    named = {path for path in files if path in sources.CONFIGURATION or path == "setup.py"}
    named |= {path for path in files if PurePosixPath(path).name == "entry_points.txt"}
    contents = repository.contents(files[path] for path in files if path in named or path.endswith(".py"))
    with tempfile.TemporaryDirectory(prefix="greenloop-") as folder:
        for name in (name for name in contents if name in sources.CONFIGURATION or name.endswith("manage.py")):
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_bytes(contents[name])  # with a `manage.py` Django names test files its own way
        patterns, texts = sources.file_patterns(Path(folder)), sources.text_patterns(Path(folder))
    links = [entry for path, entry in tree.entries.items() if entry.mode == LINK and role_by_name(path, patterns)]
    targets = {
        posixpath.normpath(posixpath.join(posixpath.dirname(path), os.fsdecode(data)))
        for path, data in repository.contents(links).items()
    }
    with lay_out(contents) as modules:
        yield Judges(
            modules=modules,
            patterns=patterns,
            texts=texts,
            paths=tree.entries.keys(),
            targets=targets,
            configuration={path: contents[path] for path in named},
            is_installed=installed,
        )


def find_changes(
    judges: Judges,
    before: Mapping[str, bytes],
    new: Mapping[str, Callable[[], bytes]],
    after: Callable[[str], bytes | None],
    allow: Sequence[str],
) -> Changes:
    """The changes of what judges: `before` has the revision's content of what differs, `new` reads what it lacks.

    `after` returns the changed content (None: the file is gone).
    """
    roles = {path: role for path in before if (role := judges.role(path))}
    named = []
    for path, role in roles.items():
        present = after(path)
        allowed = is_allowed(path, allow)
        if allowed or not is_harmless_edit(path, role, before[path], present):
            change = "removes" if present is None and before[path] else "edits"
            named.append(JudgingChange(path=path, change=change, role=role, allowed=allowed))
    new_roles, deciding = judges.roles_of_new(new)
    for path, role in new_roles.items():
        allowed = is_allowed(path, allow)
        if allowed or path in deciding:
            named.append(JudgingChange(path=path, change="adds", role=role, allowed=allowed))
    ordered = tuple(sorted(named, key=lambda each: each.path))
    return Changes(roles={**roles, **new_roles}, named=ordered, allow=allow)


def trusted_paths(judges: Judges, tree: Tree, changes: Changes) -> frozenset[str]:
    """The files that judge: those of the revision by their names, and what changed of all others."""
    by_name = {path for path in tree.entries if judges.plain_role(path)}
    return frozenset(by_name | {path for path in changes.roles if path in tree.entries} | changes.allowed())
