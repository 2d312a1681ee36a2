"""`run_tests`: the outcome of tests with the code as it is; nothing is judged."""

from __future__ import annotations

from typing import Any

from greenloop.api import testing
from greenloop.api.events_json import MAX_MESSAGE, case_object
from greenloop.mcp.arguments import Root, Seconds, Selectors
from greenloop.mcp.context import ServiceContext, service_of, tell_errors
from greenloop.mcp.progress import report_progress
from greenloop_sandbox import CaseResult


@tell_errors
async def run_tests(
    context: ServiceContext, selectors: Selectors = None, seconds: Seconds = 0.0, root: Root = ""
) -> dict[str, Any]:
    """Run tests in the sandbox with the code as it is, and return their outcomes."""
    service = service_of(context)
    folder = service.find_folder(root)
    settings = service.load_settings(folder, {})
    async with report_progress(context) as report:
        report("running the tests")
        found = await testing.run_tests(
            folder,
            selectors or ["."],
            settings=settings,
            pool=service.pool,
            seconds=seconds,
            report_status=report,
        )
    failing = [result for result in found.results if result.outcome in {"failed", "error"}]
    return {
        "passed": sum(result.passed for result in found.results),
        "failed": [failure_object(result) for result in failing],
        "other": {result.id: result.outcome for result in found.results if not result.passed and result not in failing},
        "not_run": list(found.left_out),
        "not_collected": [{"id": error.id, "message": error.failure.message[:MAX_MESSAGE]} for error in found.errors],
        "seconds": round(found.seconds, 3),
    }


def failure_object(result: CaseResult) -> dict[str, Any]:
    """Where and why a case failed."""
    row = case_object(result)
    return {"id": row["id"], "error": row["error_class"]} | {name: row[name] for name in ("message", "path", "line")}
