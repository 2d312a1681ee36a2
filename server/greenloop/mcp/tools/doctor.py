"""`doctor`: what a run needs, and what is missing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from greenloop.engine.doctor import report
from greenloop.mcp.arguments import Root
from greenloop.mcp.context import ServiceContext, service_of, tell_errors


@tell_errors
async def doctor(context: ServiceContext, root: Root = "") -> dict[str, Any]:
    """Tell whether tests and fixes can run here: interpreter, sandbox and model, with a remedy for what is missing."""
    service = service_of(context)
    folder = service.find_folder(root)
    rows = await report.examine(folder, service.load_settings(folder, {}))
    return {
        "can_fix": report.can_run(rows),
        "missing": report.missing_parts(rows),
        "summary": report.summary(rows),
        "findings": [asdict(row) for row in rows],
    }
