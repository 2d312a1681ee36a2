"""`greenloop.doctor`: checks everything that a run needs, and opens the findings as a read-only page."""

from __future__ import annotations

import asyncio
import importlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenloop.lsp import pages
from greenloop.lsp.connection import client_requests
from greenloop.lsp.documents import locations
from greenloop.lsp.features import configuration
from greenloop.lsp.runs import command_arguments

if TYPE_CHECKING:
    from greenloop.lsp.presenters.progress_line import Line
    from greenloop.lsp.server import Server

TITLE = "Examining what greenloop needs"


def register(server: Server) -> None:
    @server.command("greenloop.doctor")
    def doctor(*arguments: Any) -> None:
        argument = command_arguments.table(arguments)
        uri = argument.get("uri") if isinstance(argument, Mapping) else None
        project_file = locations.of_or_none(server, uri) if isinstance(uri, str) else None
        roots = server.documents.roots()
        root = project_file.root if project_file is not None else roots[0] if roots else None
        if not server.errands.start(TITLE, lambda line: _examined(server, root, line)):
            client_requests.tell(server, "That is being examined already.")


async def _examined(server: Server, root: Path | None, line: Line) -> str:
    findings = await asyncio.to_thread(importlib.import_module, "greenloop.engine.doctor.report")
    await configuration.known(server)
    settings = configuration.load(server, root)
    line.report_status("sandboxes, interpreter, model")
    editor = findings.Editor(model=server.abilities.model, keys=server.abilities.keys)
    with tempfile.TemporaryDirectory(prefix="greenloop-doctor-") as empty_folder:
        rows = await findings.examine(root or Path(empty_folder), settings, promises=True, editor=editor)
    if root is None:
        # The machine can still be checked, but the project's interpreter is not known.
        rows = [row for row in rows if row.part != "interpreter"]
        detail, remedy = "no folder is open", "Open the folder of a project."
        workspace = findings.Row(part="workspace", name="", ok=False, detail=detail, remedy=remedy)
    else:
        workspace = findings.Row(part="workspace", name=root.name, ok=True, detail=str(root))
    await pages.findings(server, root, [*rows, workspace])
    return str(findings.closing([*rows, workspace]))
