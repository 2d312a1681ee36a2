"""The editor's settings: initializationOptions, workspace/configuration, didChangeConfiguration."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from greenloop import settings, templates
from greenloop.lsp import client
from greenloop.lsp.convert import flatten

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def changed(params: lsp.DidChangeConfigurationParams) -> None:
        # Some clients send everybody's settings here: only our own section counts.
        section = params.settings.get(settings.APP) if isinstance(params.settings, Mapping) else None
        if isinstance(section, Mapping):
            take(server, section)
        server.runs.spawn(_pull(server))


def take(server: Server, table: Any) -> None:
    """Adds an editor's settings, nested or dotted, with or without our name around them."""
    if isinstance(table, Mapping):
        inner = table.get(settings.APP, table)
        server.editor_settings |= flatten(inner) if isinstance(inner, Mapping) else {}


async def settle(server: Server) -> None:
    """After the handshake: asks to be told of changes, pulls what there is, says what is wrong with it."""
    if server.abilities.watch_configuration:
        method = lsp.WORKSPACE_DID_CHANGE_CONFIGURATION
        options = {"section": settings.APP}
        registration = lsp.Registration(id=str(uuid.uuid4()), method=method, register_options=options)
        params = lsp.RegistrationParams(registrations=[registration])
        await client.bounded(server.client_register_capability_async(params), client.SOON, "to register")
    await _pull(server)
    roots: list[Path | None] = [*server.documents.roots()]
    for root in roots or [None]:
        load(server, root)


def load(server: Server, root: Path | None) -> settings.Settings:
    """The settings that hold in a folder; each thing wrong with them is shown once."""
    found, warnings = settings.load(root, editor=server.editor_settings)
    fresh = [warning for warning in [*warnings, *templates.complaints()] if warning not in server.warned]
    server.warned.update(fresh)
    if fresh:
        client.tell(server, "\n".join(fresh), lsp.MessageType.Warning)
    return found


async def _pull(server: Server) -> None:
    take(server, await client.configuration(server))
