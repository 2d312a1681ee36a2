"""`doctor`: what a run needs, and what is missing."""

from __future__ import annotations

from dataclasses import asdict

from greenloop.api import health
from greenloop.plugins.agents.mcp.answers import Health, HealthReply, Part, reply
from greenloop.plugins.agents.mcp.arguments import Root
from greenloop.plugins.agents.mcp.context import ServiceContext, service_of, tell_errors


@tell_errors
async def doctor(context: ServiceContext, root: Root = "") -> HealthReply:
    """Tell whether tests and fixes can run here: interpreter, sandbox and model, with a remedy for what is missing."""
    service = service_of(context)
    folder = service.find_folder(root)
    rows = await health.doctor(folder, service.load_settings(folder, {}))
    answer = Health(
        can_fix=health.can_run(rows),
        missing=health.missing_parts(rows),
        summary=health.summary(rows),
        findings=[Part(**{name: value for name, value in asdict(row).items() if name != "status"}) for row in rows],
    )
    return reply(answer)
