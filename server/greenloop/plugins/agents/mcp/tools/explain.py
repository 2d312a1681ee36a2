"""`explain`: where a test fails, and which functions and lines are most suspicious. No model is asked."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from pydantic import Field

from greenloop.api.events_json import MAX_MESSAGE
from greenloop.api.testing import explain as explain_test
from greenloop.plugins.agents.mcp.answers import (
    At,
    Explained,
    ExplainedReply,
    Line,
    Suspect,
    failure_of,
    first_of,
    reply,
    shorten,
)
from greenloop.plugins.agents.mcp.arguments import Root, Seconds, Text
from greenloop.plugins.agents.mcp.context import ServiceContext, report_progress, service_of, tell_errors


@tell_errors
async def explain(
    context: ServiceContext,
    target: Annotated[Text, Field(description="A pytest node id, or file.py::function for the tests of a function.")],
    seconds: Seconds = 0.0,
    root: Root = "",
) -> ExplainedReply:
    """Explain a failing test: its error and the values at it, and the functions and lines most likely at fault.

    The test and those that reach the same code run in a sandbox, and are compared statement by statement.
    """
    service = service_of(context)
    folder = service.find_folder(root)
    settings = service.load_settings(folder, {"seconds": seconds})
    async with report_progress(context) as report:
        found = await explain_test(folder, target, settings=settings, pool=service.pool, report_status=report)
    baseline = found.baseline
    failing = [case for case in baseline.attempt.verdict.cases if not case.passed]
    text = failing[0].failure.text if failing and failing[0].failure else ""
    lists, left_out = first_of(
        {
            "failing": map(failure_of, failing),
            "values": [
                At(
                    path=each.place.path,
                    line=each.place.line,
                    code=each.code.strip(),
                    values={name: shorten(value) for name, value in each.values.items()},
                )
                for each in reversed(found.frames)
            ],
            "suspects": [
                Suspect(path=each.path, name=each.qualname, start=each.start, end=each.end) for each in found.suspects
            ],
            "lines": [Line(**asdict(line)) for line in found.lines],
        }
    )
    answer = Explained(
        passes=baseline.passing,
        not_in_the_code=f"{baseline.fault} {baseline.remedy}".strip(),
        text=text[:MAX_MESSAGE],
        related_tests=len(baseline.problem.neighbours),
        left_out=left_out,
        **lists,
    )
    return reply(answer)
