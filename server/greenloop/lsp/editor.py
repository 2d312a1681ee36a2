"""Access to the editor: the connection, the open documents, the settings, and background tasks."""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.lsp.client_settings import SettingsLoader
from greenloop.lsp.connection.client import Client
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.tasks import Tasks


@dataclass(frozen=True, kw_only=True)
class Editor:
    """The editor of this server, as its parts see it; they are passed together because most parts need several."""

    client: Client
    documents: Documents
    settings: SettingsLoader
    tasks: Tasks
