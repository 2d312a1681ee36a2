"""`run_tests`: the outcome of tests with the code as it is; nothing is judged."""

from __future__ import annotations

from collections import Counter

from greenloop.api import testing
from greenloop.plugins.agents.mcp.answers import (
    FailureAnswer,
    TestsRan,
    TestsReply,
    below,
    failure_of,
    first_of,
    reply,
    shorten,
)
from greenloop.plugins.agents.mcp.arguments import Cases, Root, Seconds, Selectors
from greenloop.plugins.agents.mcp.context import ServiceContext, report_progress, service_of, tell_errors

FAILING = ("failed", "error")


@tell_errors
async def run_tests(
    context: ServiceContext, selectors: Selectors = None, cases: Cases = "", seconds: Seconds = 0.0, root: Root = ""
) -> TestsReply:
    """Run tests in the sandbox with the code as it is; returns how many pass, what fails, and cases on request."""
    service = service_of(context)
    folder = service.find_folder(root)
    settings = service.load_settings(folder, {})
    async with report_progress(context) as report:
        report("running the tests")
        found = await testing.run_tests(
            folder, selectors or ["."], settings=settings, pool=service.pool, seconds=seconds, report_status=report
        )
    return reply(answer(found, cases))


def answer(report: testing.SuiteReport, cases: str) -> TestsRan:
    """The answer for a run of tests; `cases` is the place below which they are listed."""
    results = report.results
    lists, left_out = first_of(
        {
            "failed": [failure_of(result) for result in results if result.outcome in FAILING],
            "not_run": report.left_out,
            "not_collected": [
                FailureAnswer(
                    id=each.id, outcome="error", error=each.failure.type, message=shorten(each.failure.message)
                )
                for each in report.errors
            ],
        }
    )
    other = Counter(each.outcome for each in results if not each.passed and each.outcome not in FAILING)
    return TestsRan(
        passed=sum(result.passed for result in results),
        other=dict(other),
        left_out=left_out,
        cases=below(results, cases),
        seconds=round(report.seconds, 1),
        **lists,
    )
