"""The editor's settings: registration for changes, and changes pushed by the editor."""

from __future__ import annotations

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.lsp.client_settings import SettingsLoader
from greenloop.lsp.connection.client import Client
from greenloop.lsp.tasks import Tasks
from greenloop.project.settings import APP


def register(server: LanguageServer, settings: SettingsLoader, tasks: Tasks) -> None:
    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def changed(params: lsp.DidChangeConfigurationParams) -> None:
        settings.from_client.push(params.settings)
        tasks.spawn(settings.request())


async def begin(client: Client, settings: SettingsLoader, tasks: Tasks) -> None:
    """After the handshake: registers for changes, pulls the settings, reports faults in them."""
    if client.capabilities.watch_configuration:
        tasks.spawn(client.register_for(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": APP}))
    await settings.request()
