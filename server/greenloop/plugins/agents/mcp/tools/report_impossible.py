"""`report_impossible`: an agent says that a test cannot honestly pass; the user decides whether the test may change."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from greenloop.api.testing import explain
from greenloop.plugins.agents.mcp.answers import Reported, ReportedReply, failure_of, first_of, reply, shorten
from greenloop.plugins.agents.mcp.arguments import Root, Seconds, Text
from greenloop.plugins.agents.mcp.client_user import McpUser
from greenloop.plugins.agents.mcp.context import ServiceContext, report_progress, service_of, tell_errors

NEXT = {
    True: "Change the test as the user wants it, and verify with allow_test_changes and because.",
    False: "Leave the test as it is, and make the code right for it.",
    None: "Leave tests and code as they are, and tell the user what contradicts what.",
}
PASSES = "The test passes, so there is nothing to report."


@tell_errors
async def report_impossible(
    context: ServiceContext,
    target: Annotated[Text, Field(description="The test, as a pytest node id.")],
    reason: Annotated[
        Text, Field(description="What contradicts what: the test, its docstring, another test.", min_length=1)
    ],
    seconds: Seconds = 0.0,
    root: Root = "",
) -> ReportedReply:
    """Report a test that no honest change can make pass, instead of faking it or editing the test.

    The test runs as it is, and the user is asked whether it may change. Nothing is written.
    """
    service = service_of(context)
    folder = service.find_folder(root)
    settings = service.load_settings(folder, {"seconds": seconds})
    async with report_progress(context) as report:
        found = await explain(folder, target, settings=settings, pool=service.pool, report_status=report)
        baseline, allowed = found.baseline, None
        if not baseline.passing:
            report("asking the user")
            question = f"An agent says that {target} cannot pass: {shorten(reason, 1000)} May the test be changed?"
            allowed = await McpUser(context).confirm(question)
    lists, _more = first_of(
        {"failing": [failure_of(case) for case in baseline.attempt.verdict.cases if not case.passed]}
    )
    answer = Reported(
        allowed=allowed,
        passes=baseline.passing,
        not_in_the_code=f"{baseline.fault} {baseline.remedy}".strip(),
        next=PASSES if baseline.passing else NEXT[allowed],
        **lists,
    )
    return reply(answer)
