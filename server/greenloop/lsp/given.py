"""What the editor gave as settings, by way and by folder. It must not know what the settings mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop.lsp.convert import flatten
from greenloop.settings import APP, Settings

_HEADS = frozenset(Settings.__dataclass_fields__)


@dataclass(kw_only=True)
class Given:
    """Dotted keys: given at the start, pushed, and answered for each folder (None: for files outside of all).

    Each way has the newest word only, and the later one of these ways wins.
    """

    initial: Mapping[str, object] = field(default_factory=dict)
    pushed: Mapping[str, object] = field(default_factory=dict)
    pulled: Mapping[Path | None, Mapping[str, object]] = field(default_factory=dict)

    def of(self, root: Path | None) -> dict[str, object]:
        """What holds in a folder."""
        own = self.pulled.get(root, self.pulled.get(None, {}))
        return {**self.initial, **self.pushed, **own}

    def push(self, payload: Any) -> None:
        """What a notification brings: null takes all back; what is not ours changes nothing."""
        if payload is None:
            self.pushed = {}
        elif isinstance(payload, Mapping):
            # Some clients send everybody's settings, some the bare section.
            bare = all(str(key).split(".")[0] in _HEADS for key in payload)
            if APP in payload or (payload and bare):
                self.pushed = section(payload)


def section(table: Any) -> dict[str, object]:
    """Our settings, nested or dotted, with or without our name around them."""
    inner = table.get(APP, table) if isinstance(table, Mapping) else None
    return flatten(inner) if isinstance(inner, Mapping) else {}
