"""`history`: earlier runs, or one with its attempts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from greenloop.api.events_json import attempt_object, finished_object
from greenloop.api.history import History, StoredRun, find_record
from greenloop.core.errors import UsageError
from greenloop.core.text.diff import diff_files
from greenloop.plugins.agents.mcp.answers import RunAnswer, RunsAnswer, RunsReply, reply, tried
from greenloop.plugins.agents.mcp.arguments import Root
from greenloop.plugins.agents.mcp.context import ServiceContext, service_of, tell_errors
from greenloop.plugins.agents.service import Service
from greenloop.wording.notes import list_notes

ATTEMPT_FIELDS = ("attempt", "parent", "model", "status", "passed", "total", "error_class", "message")


@tell_errors
async def history(
    context: ServiceContext,
    run: Annotated[int, Field(description="The number of one run.", ge=0)] = 0,
    limit: Annotated[int, Field(description="How many to list.", ge=1, le=1000)] = 20,
    root: Root = "",
) -> RunsReply:
    """List earlier runs of a project, newest first, or show one with its attempts and its diff."""
    service = service_of(context)
    if run:
        record = find_run(service, run)
        outcome = record.outcome
        answer = RunsAnswer(
            runs=[RunAnswer(**_line(record))],
            message=outcome.message if outcome else "",
            diff=diff_files(outcome.before, outcome.after) if outcome else "",
            kind=record.kind.value if record.kind else None,
            notes=list(list_notes(outcome)) if outcome else [],
            attempts=[tried(attempt_object(each)) for each in record.attempts],
        )
        return reply(answer)
    with History.open() as store:
        rows = [_line(each) for each in store.runs(service.find_folder(root), limit=limit)]
    return reply(RunsAnswer(runs=[RunAnswer(**row) for row in rows]))


def find_run(service: Service, number: int) -> StoredRun:
    """Returns a stored run of one of the roots. Raises `UsageError` where there is none."""
    record = find_record(number)
    if record is None:
        raise UsageError(f"There is no run {number} in the history.", remedy="List them without a number.")
    service.find_folder(record.root)
    return record


def _line(record: StoredRun) -> dict[str, Any]:
    outcome = record.outcome
    return {
        "run": record.id,
        "started": record.started,
        "target": record.target,
        "state": record.state,
        "solved": bool(outcome and outcome.solved),
        "verified": outcome.verified.value if outcome else "",
        "reason": outcome.reason.value if outcome else "",
        "attempts": record.count,
        "model": record.model,
        "kind": record.kind.value if record.kind else None,
        "applied": record.applied is not None,
    }


def run_object(record: StoredRun) -> dict[str, Any]:
    """A run with its attempts; the answers of models are left out."""
    attempts = [
        {name: row[name] for name in ATTEMPT_FIELDS} | {"looks": [look["summary"] for look in row["looks"]]}
        for row in (attempt_object(each) for each in record.attempts)
    ]
    ended = finished_object(record.outcome, applied=record.applied is not None) if record.outcome else {}
    return {**ended, **_line(record), "attempts": attempts}
