"""Finds out how greenloop was installed: the commands that users are asked to type. Light: standard library only."""

from __future__ import annotations

from greenloop.project.environment.installation import extra_command, own_command, runner
