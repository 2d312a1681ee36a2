"""`greenloop.doctor`: what a run needs and whether it is here, as a read-only page."""

from __future__ import annotations

import asyncio
import importlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenloop.lsp import client, meant, pages, places
from greenloop.lsp.features import configuration

if TYPE_CHECKING:
    from greenloop.lsp.presenters.line import Line
    from greenloop.lsp.server import Server

TITLE = "Examining what greenloop needs"


def register(server: Server) -> None:
    @server.command("greenloop.doctor")
    def doctor(*arguments: Any) -> None:
        named = meant.table(arguments)
        uri = named.get("uri") if isinstance(named, Mapping) else None
        place = places.of_or_none(server, uri) if isinstance(uri, str) else None
        roots = server.documents.roots()
        root = place.root if place is not None else roots[0] if roots else None
        if not server.errands.start(TITLE, lambda line: _examined(server, root, line)):
            client.tell(server, "That is being examined already.")


async def _examined(server: Server, root: Path | None, line: Line) -> str:
    findings = await asyncio.to_thread(importlib.import_module, "greenloop.findings")
    await configuration.known(server)
    settings = configuration.load(server, root)
    line.say("sandboxes, interpreter, model")
    editor = findings.Editor(model=server.abilities.model, keys=server.abilities.keys)
    with tempfile.TemporaryDirectory(prefix="greenloop-doctor-") as nobodys:
        rows = await findings.examine(root or Path(nobodys), settings, promises=True, editor=editor)
    if root is None:
        # The machine can be examined all the same; which interpreter is the project's is not known yet.
        rows = [row for row in rows if row.part != "interpreter"]
        said, remedy = "no folder is open", "Open the folder of a project."
        workspace = findings.Row(part="workspace", name="", ok=False, detail=said, remedy=remedy)
    else:
        workspace = findings.Row(part="workspace", name=root.name, ok=True, detail=str(root))
    await pages.findings(server, root, [*rows, workspace])
    return str(findings.closing([*rows, workspace]))
