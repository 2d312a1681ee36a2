"""The editor's settings, for each folder its own: given at the start, asked for, and pushed."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop import settings, templates
from greenloop.lsp import client
from greenloop.lsp.given import section

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
    """After the handshake: asks to be told of changes, pulls what there is, says what is wrong with it."""
    if server.abilities.watch_configuration:
        method = lsp.WORKSPACE_DID_CHANGE_CONFIGURATION
        options = {"section": settings.APP}
        registration = lsp.Registration(id=str(uuid.uuid4()), method=method, register_options=options)
        params = lsp.RegistrationParams(registrations=[registration])
        server.runs.spawn(_register(server, params))
    await ask(server)


async def known(server: Server) -> None:
    """Returns when the editor has told its settings: somebody may be faster than its answer. Never waits for long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(HURRIED):
            await server.settled.wait()


async def _register(server: Server, params: lsp.RegistrationParams) -> None:
    await client.bounded(server.client_register_capability_async(params), client.SOON, "to register")


def load(server: Server, root: Path | None, *, preset: str | None = None) -> settings.Settings:
    """The settings that hold in a folder, with another preset if need be; each thing wrong with them is shown once."""
    found, warnings = settings.load(root, editor=server.given.of(root))
    found = replace(found, preset=preset) if preset else found
    fresh = [warning for warning in [*warnings, *templates.complaints()] if warning not in server.warned]
    server.warned.update(fresh)
    if fresh:
        client.tell(server, "\n".join(fresh), lsp.MessageType.Warning)
    return found


async def ask(server: Server) -> None:
    """Asks for the settings of every folder in one request; the newest answer replaces all earlier ones."""
    server.asked += 1
    number, roots = server.asked, server.documents.roots()
    try:
        reply = await client.configuration(server, roots)
    finally:
        if number == server.asked:
            server.settled.set()
    if number != server.asked:
        # Asked again meanwhile: that answer counts.
        return
    if reply is not None:
        server.given.pulled = dict(zip([*roots, None], map(section, reply), strict=False))
    everywhere: list[Path | None] = [*roots]
    for root in everywhere or [None]:
        load(server, root)
    server.results.changed()
