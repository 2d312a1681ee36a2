"""Small workspaces and open sandboxes (tests/support/sandbox_fixtures.py), and a table of the attacks."""

from __future__ import annotations

import sys

import pytest

from sandbox_fixtures import (
    accept,
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
    "accept",
    "bare_environment",
    "docstring",
    "environment",
    "lay",
    "opened",
    "projects_without_plugins",
    "snapshot",
    "tmp_path",
]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What came of the attacks, as the table of tests/sandbox/attacks/README.md."""
    table = sys.modules.get("tests.sandbox.attacks.table")
    if table is None or not (lines := list(table.lines())):
        return
    terminalreporter.section("attacks")
    for line in lines:
        terminalreporter.write_line(line)
