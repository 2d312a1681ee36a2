"""A small workspace as looks see it: files on the disk, a change over them, and runs that are made up."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.plugins.conversations.looks._project import ProjectView
from greenloop.project.snapshot import Snapshot
from greenloop_sandbox import Execution

MASKED = (".env*", "*.pem", ".git", "secrets.*")


def look_project(root: Path, files=(), *, changed=None, buffers=None, execution=None, failing=()):
    """The project of these files; `project.asked` has the runs that were asked for: selectors and inspection."""
    for name, text in dict(files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    asked = []

    async def run(selectors, inspect):
        asked.append((selectors, inspect))
        return execution or Execution()

    project = ProjectView(
        snapshot=Snapshot(root=root, buffers=buffers or {}),
        problem=Problem(root=root, spec=Spec(), regions=(), originals={}, files={}),
        changed=changed or {},
        masked=MASKED,
        run=run,
        failing=failing,
    )
    return project, asked
