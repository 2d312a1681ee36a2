"""`greenloop.doctor`: checks everything that a run needs, and opens the findings as a read-only page."""

from __future__ import annotations

import asyncio
import importlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pygls.lsp.server import LanguageServer

from greenloop.lsp.client_settings import SettingsLoader
from greenloop.lsp.connection.client import Client
from greenloop.lsp.connection.messages import command_argument
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.presenters.pages import Pages
from greenloop.lsp.presenters.progress_line import ProgressLine
from greenloop.lsp.runs.background_tasks import LongTasks

TITLE = "Checking the installation"


def register(
    server: LanguageServer,
    client: Client,
    documents: Documents,
    settings: SettingsLoader,
    long_tasks: LongTasks,
    pages: Pages,
) -> None:
    @server.command("greenloop.doctor")
    def doctor(*arguments: Any) -> None:
        argument = command_argument(arguments)
        uri = argument.get("uri") if isinstance(argument, Mapping) else None
        file = locations.locate_for_display(documents, uri) if isinstance(uri, str) else None
        roots = documents.roots()
        root = file.root if file is not None else roots[0] if roots else None
        if not long_tasks.start(TITLE, lambda line: examine(client, settings, pages, root, line)):
            client.show_message("A health check is already running.")


async def examine(
    client: Client, settings: SettingsLoader, pages: Pages, root: Path | None, progress_line: ProgressLine
) -> str:
    doctor = await asyncio.to_thread(importlib.import_module, "greenloop.engine.doctor.report")
    await settings.wait_shortly()
    loaded = settings.load(root)
    progress_line.report("sandboxes, interpreter, model")
    editor = doctor.Editor(model=client.capabilities.model, keys=client.capabilities.keys)
    with tempfile.TemporaryDirectory(prefix="greenloop-doctor-") as empty_folder:
        rows = await doctor.examine(root or Path(empty_folder), loaded, promises=True, editor=editor)
    if root is None:
        # The machine can still be checked, but the project's interpreter is not known.
        rows = [row for row in rows if row.part != "interpreter"]
        detail, remedy = "no folder is open", "Open the folder of a project."
        workspace = doctor.DoctorFinding(part="workspace", name="", ok=False, detail=detail, remedy=remedy)
    else:
        workspace = doctor.DoctorFinding(part="workspace", name=root.name, ok=True, detail=str(root))
    await pages.open_findings(root, [*rows, workspace])
    return str(doctor.summary([*rows, workspace]))
