"""Targets in files: what the user may point at, and what an editor lists. Light: a parser, nothing of the engine."""

from __future__ import annotations

from greenloop.project.targets import (
    Heading,
    find_target,
    list_headings,
    parse_target,
    region_for,
    relative_path,
    split_target,
    target_at,
)
