"""Resources: a stored run, one of its attempts, and the page of a run for people."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from greenloop.api.history import StoredRun
from greenloop.core.errors import UsageError
from greenloop.core.records.model import ModelKind
from greenloop.core.text.json_codec import to_json
from greenloop.plugins.agents.mcp.context import ServiceContext, service_of
from greenloop.plugins.agents.mcp.tools.history import find_run, run_object
from greenloop.plugins.agents.service import Service
from greenloop.wording.model import describe_model


def add_resources(server: MCPServer[Service]) -> None:
    @server.resource("greenloop://run/{number}", mime_type="application/json")
    def run(number: str, context: ServiceContext) -> str:
        """A run with its attempts, evidence and diff."""
        return json.dumps(run_object(_find(context, number)))

    @server.resource("greenloop://run/{number}/attempt/{attempt}", mime_type="application/json")
    def attempt(number: str, attempt: str, context: ServiceContext) -> str:
        """One attempt: its code, verdict, and the feedback that was given on it."""
        found = next((each for each in _find(context, number).attempts if str(each.number) == attempt), None)
        if found is None:
            raise ResourceNotFoundError(f"Run {number} has no attempt {attempt}.")
        return json.dumps(to_json(replace(found, sent=None)))

    @server.resource("greenloop://run/{number}/page", mime_type="text/markdown")
    def page(number: str, context: ServiceContext) -> str:
        """A run for people: its attempts, its result, and the change."""
        return _write_page(run_object(_find(context, number)))


def _find(context: ServiceContext, number: str) -> StoredRun:
    try:
        return find_run(service_of(context), int(number))
    except ValueError:
        raise ResourceNotFoundError(f"{number[:100]} is not the number of a run.") from None
    except UsageError as error:
        raise ResourceNotFoundError(error.advice) from error


def _write_page(run: dict[str, Any]) -> str:
    rows = [
        f"| {each['attempt']} | {each['status']} | {each['passed']}/{each['total']} | {each['error_class']} |"
        for each in run["attempts"]
    ]
    looks = [f"- attempt {each['attempt']}: {look}" for each in run["attempts"] for look in each["looks"]]
    change = f"\n```diff\n{run['diff']}```\n" if run.get("diff") else ""
    return "\n".join(
        [
            f"# Run {run['run']}: {run['target']}",
            "",
            run.get("message") or run["state"],
            *(f"\nNote: {note}" for note in run.get("notes", ())),
            "",
            f"Model: {describe_model(run['model'], ModelKind(run['kind']) if run['kind'] else None)}.",
            "",
            "| attempt | status | passed | error |",
            "|---|---|---|---|",
            *rows,
            *(["", "Looks before the answers:", "", *looks] if looks else []),
            change,
        ]
    )
