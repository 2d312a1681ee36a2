"""The editor's settings: by channel and folder, requested at the start and after each change.

It must not know their meaning.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from greenloop.api.settings import APP, Settings, load_settings, user_file
from greenloop.core.text.json_codec import flatten
from greenloop.lsp.connection.client import Client
from greenloop.lsp.documents.open_documents import Documents

# Seconds that a request waits for the settings of an editor that has just started.
SHORT_WAIT = 1.0

_HEADS = frozenset(Settings.__dataclass_fields__)


@dataclass(kw_only=True)
class ClientSettings:
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
            is_bare = all(str(key).split(".")[0] in _HEADS for key in payload)
            if APP in payload or (payload and is_bare):
                self.pushed = section(payload)


def section(payload: Any) -> dict[str, object]:
    """The greenloop settings of a payload, nested or dotted, with or without the enclosing `greenloop` key."""
    inner = payload.get(APP, payload) if isinstance(payload, Mapping) else None
    # A null means that the editor does not set this key.
    items = flatten(inner) if isinstance(inner, Mapping) else ()
    return {key: value for key, value in items if value is not None}


class SettingsLoader:
    """Loads the settings in effect for a folder: the files', with the editor's over them."""

    def __init__(self, client: Client, documents: Documents) -> None:
        self._client, self._documents = client, documents
        self.from_client = ClientSettings()
        # Cleared while the editor's settings are requested for the first time.
        self.received = asyncio.Event()
        self.received.set()
        # Called when the editor's settings may have changed.
        self.on_changed: Callable[[], None] = lambda: None
        self.warnings_shown: set[str] = set()
        self._requests = 0
        self._current: dict[Path, tuple[object, Settings]] = {}

    async def wait_shortly(self) -> None:
        """Returns when the editor has sent its settings, which a fast user may precede; waits at most a second."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SHORT_WAIT):
                await self.received.wait()

    def load(self, root: Path | None, *, preset: str | None = None) -> Settings:
        """The settings in effect for a folder, with the given preset if any; each fault in them is shown once."""
        loaded, warnings = load_settings(root, editor=self.from_client.of(root))
        loaded = replace(loaded, preset=preset) if preset else loaded
        new_warnings = [each for each in warnings if each not in self.warnings_shown]
        self.warnings_shown.update(new_warnings)
        if new_warnings:
            self._client.show_warning("\n".join(new_warnings))
        return loaded

    def current(self, root: Path) -> Settings:
        """The same, cached until a source changes: for what is asked for at every keystroke."""
        sources = (_stamp(root / "pyproject.toml"), _stamp(user_file()), repr(self.from_client.of(root)))
        if root not in self._current or self._current[root][0] != sources:
            self._current[root] = (sources, self.load(root))
        return self._current[root][1]

    async def request(self) -> None:
        """Requests the settings of every folder in one request; the newest answer replaces all earlier ones."""
        self._requests += 1
        number, roots = self._requests, self._documents.roots()
        try:
            reply = await self._client.request_settings([*map(self._documents.folder_uri, roots)])
        finally:
            if number == self._requests:
                self.received.set()
        if number != self._requests:
            # A newer request was sent meanwhile: only its answer counts.
            return
        if reply is not None:
            self.from_client.pulled = dict(zip([*roots, None], map(section, reply), strict=False))
        folders: list[Path | None] = [*roots]
        for root in folders or [None]:
            self.load(root)
        self.on_changed()


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
