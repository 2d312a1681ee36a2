"""The folder of a project: where it begins, and whether it may be used as one. Light: nothing of the engine."""

from __future__ import annotations

from greenloop.project.workspace import check_root, find_root, widen
