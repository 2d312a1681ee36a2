"""The settings of a workspace, from every source that may name them, and the user's folders.

Light: loads nothing of the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from greenloop.core import registry
from greenloop.project import configuration, templates
from greenloop.project.configuration import parse_assignments
from greenloop.project.settings import APP, EDITOR, Settings, models, state_folder, user_file
from greenloop.project.settings import values as setting_values


def load_settings(
    root: Path | None, wanted: Mapping[str, Any] | None = None, *, editor: Mapping[str, Any] | None = None
) -> tuple[Settings, list[str]]:
    """The settings of a workspace (None: of the user), and a sentence about each value or prompt that is ignored.

    `wanted` has settings by name (`{"model": "local", "sandbox.kind": "docker"}`), which come before the environment,
    those of an editor, the user's file and the project's. Raises `SettingsError` for a value of `wanted` that is wrong.
    """
    if str((wanted := wanted or {}).get("model", "")).startswith("replay:"):
        # Requests are the same only with the settings of the recorded run.
        wanted = {**registry.load_part("models", "replay").recorded_settings(wanted["model"]), **wanted}
    settings, warnings = configuration.load(root, command_line=wanted, editor=editor or {})
    return settings, [*warnings, *templates.list_unusable()]
