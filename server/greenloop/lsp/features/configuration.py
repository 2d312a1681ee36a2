"""The editor's settings for each folder: sent at the start, pulled, and pushed."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.lsp.client_settings import section
from greenloop.lsp.connection import client_requests
from greenloop.project import settings, templates

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Seconds that a request waits for the settings of an editor that has just started.
HURRIED = 1.0


def register(server: Server) -> None:
    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def changed(params: lsp.DidChangeConfigurationParams) -> None:
        server.given.push(params.settings)
        server.runs.spawn(ask(server))


async def settle(server: Server) -> None:
    """After the handshake: registers for changes, pulls the settings, reports faults in them."""
    if server.abilities.watch_configuration:
        method = lsp.WORKSPACE_DID_CHANGE_CONFIGURATION
        options = {"section": settings.APP}
        registration = lsp.Registration(id=str(uuid.uuid4()), method=method, register_options=options)
        params = lsp.RegistrationParams(registrations=[registration])
        server.runs.spawn(_register(server, params))
    await ask(server)


async def known(server: Server) -> None:
    """Returns when the editor has sent its settings, which a fast user may precede; waits at most a second."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(HURRIED):
            await server.settled.wait()


async def _register(server: Server, params: lsp.RegistrationParams) -> None:
    await client_requests.bounded(server.client_register_capability_async(params), client_requests.SOON, "to register")


def load(server: Server, root: Path | None, *, preset: str | None = None) -> settings.Settings:
    """The settings in effect for a folder, with the given preset if any; each fault in them is shown once."""
    loaded, warnings = settings.load(root, editor=server.given.of(root))
    loaded = replace(loaded, preset=preset) if preset else loaded
    new_warnings = [warning for warning in [*warnings, *templates.list_unusable()] if warning not in server.warned]
    server.warned.update(new_warnings)
    if new_warnings:
        client_requests.tell(server, "\n".join(new_warnings), lsp.MessageType.Warning)
    return loaded


async def ask(server: Server) -> None:
    """Requests the settings of every folder in one request; the newest answer replaces all earlier ones."""
    server.asked += 1
    number, roots = server.asked, server.documents.roots()
    try:
        reply = await client_requests.configuration(server, roots)
    finally:
        if number == server.asked:
            server.settled.set()
    if number != server.asked:
        # A newer request was sent meanwhile: only its answer counts.
        return
    if reply is not None:
        server.given.pulled = dict(zip([*roots, None], map(section, reply), strict=False))
    folders: list[Path | None] = [*roots]
    for root in folders or [None]:
        load(server, root)
    server.results.changed()
