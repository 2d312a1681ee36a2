"""`run_tests`: the outcome of tests with the code as it is; nothing is judged."""

from __future__ import annotations

from typing import Any

from greenloop.core.records.verdict import CaseResult
from greenloop.engine import run_tests as runner
from greenloop.mcp.arguments import Root, Seconds, Selectors
from greenloop.mcp.progress import report_progress
from greenloop.mcp.service import ServiceContext, service_of, tell_errors

LONGEST = 2_000


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
        found = await runner.run_tests(
            folder,
            selectors or ["."],
            buffers={},
            settings=settings,
            pool=service.pool,
            traced=False,
            seconds=seconds,
            report_status=report,
        )
    failing = [result for result in found.results if result.outcome in {"failed", "error"}]
    return {
        "passed": sum(result.passed for result in found.results),
        "failed": [case_object(result) for result in failing],
        "other": {result.id: result.outcome for result in found.results if not result.passed and result not in failing},
        "not_run": list(found.left_out),
        "not_collected": [{"id": error.id, "message": error.failure.message[:LONGEST]} for error in found.errors],
        "seconds": round(found.seconds, 3),
    }


def case_object(result: CaseResult) -> dict[str, Any]:
    failure = result.failure
    frame = failure.frames[-1] if failure and failure.frames else None
    return {
        "id": result.id,
        "error": failure.type if failure else "",
        "message": failure.message[:LONGEST] if failure else "",
        "path": frame.path if frame else None,
        "line": frame.line if frame else None,
    }
