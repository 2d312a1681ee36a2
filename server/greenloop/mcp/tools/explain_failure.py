"""`explain_failure`: where a test fails, and which functions and lines are most suspicious. No model is asked."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from greenloop.api.events_json import MAX_MESSAGE
from greenloop.api.testing import explain
from greenloop.mcp.arguments import Root, Seconds, Text
from greenloop.mcp.context import ServiceContext, service_of, tell_errors
from greenloop.mcp.progress import report_progress
from greenloop.mcp.tools.run_tests import failure_object
from greenloop_sandbox import CaseResult


@tell_errors
async def explain_failure(
    context: ServiceContext,
    target: Annotated[Text, Field(description="A pytest node id, or file.py::function for the tests of a function.")],
    seconds: Seconds = 0.0,
    root: Root = "",
) -> dict[str, Any]:
    """Explain a failing test: its error and the values at it, and the functions and lines most likely at fault.

    The test and those that reach the same code run in a sandbox, and are compared statement by statement.
    """
    service = service_of(context)
    folder = service.find_folder(root)
    settings = service.load_settings(folder, {"seconds": seconds})
    async with report_progress(context) as report:
        found = await explain(folder, target, settings=settings, pool=service.pool, report_status=report)
    baseline = found.baseline
    failing = [case for case in baseline.attempt.verdict.cases if not case.passed]
    return {
        "passes": baseline.passing,
        "not_in_the_code": f"{baseline.fault} {baseline.remedy}".strip(),
        "failing": [{**failure_object(case), "text": _text(case)} for case in failing],
        "suspects": [
            {"path": each.path, "name": each.qualname, "start": each.start, "end": each.end} for each in found.suspects
        ],
        "lines": [asdict(line) for line in found.lines],
        "related_tests": len(baseline.problem.neighbours),
    }


def _text(case: CaseResult) -> str:
    return case.failure.text[:MAX_MESSAGE] if case.failure else ""
