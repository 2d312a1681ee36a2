"""`run_tests`: the outcome of tests with the code as it is; nothing is judged."""

from __future__ import annotations

from greenloop.api import testing
from greenloop.mcp.answers import TestsReply, answer_of_tests, reply
from greenloop.mcp.arguments import Cases, Root, Seconds, Selectors
from greenloop.mcp.context import ServiceContext, service_of, tell_errors
from greenloop.mcp.progress import report_progress


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
            folder,
            selectors or ["."],
            settings=settings,
            pool=service.pool,
            seconds=seconds,
            report_status=report,
        )
    answer = answer_of_tests(found.results, cases, not_run=found.left_out, errors=found.errors, seconds=found.seconds)
    return reply(answer)
