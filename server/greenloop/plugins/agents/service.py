"""Resources of a connected program: the folders it may touch, the settings, the open sandboxes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop.api.pool import SandboxPool
from greenloop.api.settings import Settings, load_settings
from greenloop.api.workspace import check_root
from greenloop.core.errors import UsageError

FILE_MODELS = ("scripted", "replay")  # models whose answers are read from a file


@dataclass(frozen=True, kw_only=True)
class Service:
    """`roots` are the folders that may be touched; the first is the one where a call names none.

    `overrides` are settings of the command line that started the server.
    """

    roots: tuple[Path, ...]
    overrides: Mapping[str, Any] = field(default_factory=dict)
    pool: SandboxPool = field(default_factory=SandboxPool)

    def find_folder(self, typed: str) -> Path:
        """Returns the folder that a call names. Raises `UsageError` for one outside the roots."""
        if not typed:
            return check_root(self.roots[0])
        folder = Path(os.path.abspath(self.roots[0] / typed))  # noqa: PTH100 - keeps symlinks, as the user named them
        self._check_inside(folder)
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder.", remedy="Name the folder of the project.")
        return check_root(folder)

    def check_model(self, name: str, folder: Path) -> str:
        """Returns the model that a call names; one that is a file (`scripted:FILE`) counts from `folder`.

        Raises `UsageError` for a file outside the roots.
        """
        kind, _, file = name.partition(":")
        if kind not in FILE_MODELS or not file:
            return name
        path = (folder / file).resolve()
        self._check_inside(path)
        return f"{kind}:{path}"

    def _check_inside(self, path: Path) -> None:
        real = path.resolve()
        if not any(real.is_relative_to(root.resolve()) for root in self.roots):
            allowed = ", ".join(map(str, self.roots))
            raise UsageError(
                f"{path} is outside the folders of this server ({allowed}).",
                remedy="Start the server with --root FOLDER for each folder that it may use.",
            )

    def load_settings(self, root: Path, wanted: Mapping[str, Any]) -> Settings:
        """Returns the settings of a workspace; empty values of `wanted` change nothing. Raises `SettingsError`."""
        chosen = {name: value for name, value in wanted.items() if value not in ("", 0, None)}
        return load_settings(root, {**self.overrides, **chosen})[0]
