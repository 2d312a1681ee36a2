"""Settings sent by the editor, by channel and folder. It must not know their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop.lsp.connection.convert import flatten
from greenloop.project.settings import APP, Settings

_HEADS = frozenset(Settings.__dataclass_fields__)


@dataclass(kw_only=True)
class Given:
    """Dotted keys: sent at the start, pushed, and pulled for each folder (None: for files outside all folders).

    Each channel keeps only its newest values; a later channel in this list overrides the earlier ones.
    """

    initial: Mapping[str, object] = field(default_factory=dict)
    pushed: Mapping[str, object] = field(default_factory=dict)
    pulled: Mapping[Path | None, Mapping[str, object]] = field(default_factory=dict)

    def of(self, root: Path | None) -> dict[str, object]:
        """The settings in effect for a folder."""
        pulled = self.pulled.get(root, self.pulled.get(None, {}))
        return {**self.initial, **self.pushed, **pulled}

    def push(self, payload: Any) -> None:
        """Takes a notification's settings: null clears all pushed ones; a payload without ours changes nothing."""
        if payload is None:
            self.pushed = {}
        elif isinstance(payload, Mapping):
            # Some clients send the settings of all servers, some only our section without its name.
            bare = all(str(key).split(".")[0] in _HEADS for key in payload)
            if APP in payload or (payload and bare):
                self.pushed = section(payload)


def section(table: Any) -> dict[str, object]:
    """The greenloop settings of a payload, nested or dotted, with or without the enclosing `greenloop` key."""
    inner = table.get(APP, table) if isinstance(table, Mapping) else None
    return flatten(inner) if isinstance(inner, Mapping) else {}
