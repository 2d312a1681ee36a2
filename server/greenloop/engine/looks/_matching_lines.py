"""Finds the lines of the project's files that match a pattern."""

from __future__ import annotations

import re

from greenloop.core.text.diff import with_plain_ends
from greenloop.engine.looks._project import LookError, Project

MOST = 40  # lines that are shown
LONGEST = 160  # characters of one
LARGEST = 1 << 20  # characters of a file that is searched


def find_lines(project: Project, paths: list[str], pattern: re.Pattern[str], name: str) -> str:
    """Returns the lines that match, each as `path:line: text`; source files before others."""
    found: list[str] = []
    for path in sorted(paths, key=lambda path: (not path.endswith(".py"), path)):
        try:
            text = project.text(path)
        except LookError:
            continue
        if len(text) > LARGEST:
            continue
        for number, row in enumerate(with_plain_ends(text).split("\n"), 1):
            if pattern.search(row):
                shown = row.strip()
                found.append(f"{path}:{number}: {shown if len(shown) <= LONGEST else shown[:LONGEST] + '…'}")
    if not found:
        return f"{name} is in no file."
    more = f"\n… {len(found) - MOST} more lines" if len(found) > MOST else ""
    return "\n".join(found[:MOST]) + more
