"""`doctor`: what a run needs, and what is missing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from greenloop.api import health
from greenloop.mcp.arguments import Root
from greenloop.mcp.context import ServiceContext, service_of, tell_errors


@tell_errors
async def doctor(context: ServiceContext, root: Root = "") -> dict[str, Any]:
    """Tell whether tests and fixes can run here: interpreter, sandbox and model, with a remedy for what is missing."""
    service = service_of(context)
    folder = service.find_folder(root)
    rows = await health.doctor(folder, service.load_settings(folder, {}))
    return {
        "can_fix": health.can_run(rows),
        "missing": health.missing_parts(rows),
        "summary": health.summary(rows),
        "findings": [asdict(row) for row in rows],
    }
