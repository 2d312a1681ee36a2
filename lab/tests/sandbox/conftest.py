"""Small workspaces and open sandboxes (tests/support/sandbox_fixtures.py)."""

from __future__ import annotations

from sandbox_fixtures import (
    bare_environment,
    docstring,
    environment,
    lay,
    opened,
    projects_without_plugins,
    snapshot,
    tmp_path,
)

__all__ = [
    "bare_environment",
    "docstring",
    "environment",
    "lay",
    "opened",
    "projects_without_plugins",
    "snapshot",
    "tmp_path",
]
