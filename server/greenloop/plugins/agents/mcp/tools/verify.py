"""`verify`: do the tests of a commit honestly pass with the code as it is?"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from greenloop.api.verification import FILE, Require, Verification, VerifyRequest, replay
from greenloop.api.verification import verify as verify_tests
from greenloop.core.errors import UsageError
from greenloop.plugins.agents.mcp.answers import (
    LONGEST,
    FailureAnswer,
    VerifiedAnswer,
    VerifiedReply,
    below,
    failure_of,
    first_of,
    reply,
    shorten,
)
from greenloop.plugins.agents.mcp.arguments import Cases, Root, Seconds, Text
from greenloop.plugins.agents.mcp.context import ServiceContext, report_progress, service_of, tell_errors
from greenloop.wording.notes import list_beyond
from greenloop.wording.step import next_step, why_not_proven


@tell_errors
async def verify(
    context: ServiceContext,
    targets: Annotated[
        list[Text] | None,
        Field(
            description="Node ids, files or folders that must pass, old failures too; without any, the whole suite "
            "runs, and a test that failed in `base` too counts against nothing."
        ),
    ] = None,
    base: Annotated[Text, Field(description="The commit whose tests count.")] = "HEAD",
    known_failing: Annotated[
        list[Text] | None, Field(description="Tests that may still fail if they fail with the commit's code too.")
    ] = None,
    allow_test_changes: Annotated[
        list[Text] | None,
        Field(description="Tests, helpers, configuration or expected results that judge as changed: paths or globs."),
    ] = None,
    because: Annotated[Text, Field(description="The user's reason for allow_test_changes.")] = "",
    require: Annotated[
        Require, Field(description='"apart": a pass counts only if the tests were judged apart from the code.')
    ] = "",
    run: Annotated[int, Field(description="A run of the history to verify again, instead of targets.", ge=0)] = 0,
    cases: Cases = "",
    seconds: Seconds = 0.0,
    root: Root = "",
) -> VerifiedReply:
    """Verify the change in the working tree: do the tests of a commit honestly pass with it? They run in a sandbox.

    Tests and configuration are those of `base`, whatever the working tree has; a change that edits them is not verified
    unless the user allows that. A pass that was faked (tests skipped, patched, answers copied from them) is named in
    `tampered`. Only `"verified": true` means that the code is right by these tests; the answer has counts and what
    failed, and cases on request.
    """
    if any(entry.startswith(FILE) for entry in known_failing or ()):
        raise UsageError(
            f"An entry of known_failing may not begin with {FILE}, because no file of tests is read here.",
            remedy="Name each test by its node id.",
        )
    service = service_of(context)
    folder = service.find_folder(root)
    settings = service.load_settings(folder, {})
    async with report_progress(context) as report:

        def left(seconds: float) -> None:
            report(f"about {seconds:.0f} s left")

        if run:
            result = await replay(
                run,
                settings=lambda where: service.load_settings(service.find_folder(str(where)), {}),
                seconds=seconds,
                require=require,
                report_status=report,
                warn=report,
            )
        else:
            request = VerifyRequest(
                root=folder,
                revision=base,
                targets=tuple(targets or ()),
                known_failing=tuple(known_failing or ()),
                seconds=seconds,
                allow=tuple(allow_test_changes or ()),
                because=because,
                require=require,
            )
            result = await verify_tests(request, settings=settings, report_status=report, report_left=left)
    return reply(answer(result, cases))


def answer(result: Verification, cases: str) -> VerifiedAnswer:
    """The answer for a verification; `cases` is the place below which they are listed."""
    by_id = {case.id: case for case in (*result.cases, *result.new.cases)}
    failed = dict.fromkeys((*result.failed, *result.new_failing))
    lists, left_out = first_of(
        {
            "failed": [
                failure_of(by_id[name]) if name in by_id else FailureAnswer(id=name, outcome="missing")
                for name in failed
            ],
            "tampered": dict.fromkeys(each.case for each in result.tampered if each.case),
            "fixed": result.fixed,
            "already_failing": result.already_failing,
            "still_failing": result.still_failing,
            "known_failing": result.known_failing,
            "flaky": result.flaky,
            "changed_tests": sorted((*result.changed, *result.removed)),
            "judging_changes": [f"{each} {result.because}".strip() for each in result.judging_changes],
            "not_proven": [f"{case}: {shorten(why)}" for case, why in result.unearned.items()],
            "notes": map(shorten, (*list_beyond(result.data), *result.changes, *result.notes)),
        }
    )
    return VerifiedAnswer(
        verified=result.is_proven,
        state=result.state.value,
        reason=shorten(result.reason or why_not_proven(result.unearned, result.data), 3 * LONGEST),
        next=next_step(result.state.value),
        base=f"{result.revision} ({result.base[:12]})" if result.base else result.revision,
        passed=sum(case.passed for case in result.cases),
        proven_apart=len(result.apart),
        ran_in_one_process=len(result.together),
        left_out=left_out,
        cases=below(result.cases, cases, result.before),
        sandbox=result.sandbox,
        seconds=round(result.seconds, 1),
        **lists,
    )
