"""Runs the tests that only the change has, apart from those of the revision, which they therefore cannot disturb.

They are verified as the revision's tests are, over both codes: one that fails with the revision's own code and passes
with the change is a new pass. It must not know how the revision's tests fared.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.engine.verify.known_failing import KnownFailing
from greenloop.engine.verify.report import NewTests, Verification
from greenloop.engine.verify.setup import VerificationContext
from greenloop.project.sources import is_test_file
from greenloop_sandbox import CaseResult, Failure


async def run_new_tests(
    context: VerificationContext, run_verification: Callable[[VerificationContext], Awaitable[Verification]]
) -> NewTests:
    """Verifies the test files that the revision lacks. Those that decide over its own tests stay left out."""
    revision = context.revision
    deciding = {each.path for each in revision.judging_changes if not each.allowed}
    let_in = {path for path in revision.added if path not in deciding}
    files = tuple(path for path in revision.added if path in let_in and is_test_file(path))
    if not files:
        return NewTests()
    context.report_status("the tests that only the change has:")
    alone = replace(
        context,
        revision=replace(
            revision,
            trusted=revision.trusted | let_in,
            files={**revision.files, **{path: revision.added_files[path] for path in let_in & {*revision.added_files}}},
            removed_paths=tuple(path for path in revision.removed_paths if path not in let_in),
        ),
        request=replace(context.request, targets=files),
        known=KnownFailing(),
    )
    try:
        result = await run_verification(alone)
    except UsageError:
        return NewTests()  # none of the files has a test
    except CannotVerifyError as error:
        return NewTests(notes=(f"The new tests were not run: {error}",))
    ids = {case.id for case in result.cases}
    broken = [path for path in result.still_failing if path not in ids]
    reasons = {path: Failure(type="CollectError", message="pytest cannot import it") for path in broken}
    if whole := next((each for each in result.tampered if not each.case), None):
        reasons[files[0]] = Failure(type="Tampered", message=whole.reason)
    errors = (CaseResult(id=path, outcome="error", failure=failure) for path, failure in reasons.items())
    named = [f"{each.case}, a new test, proves nothing: {each.reason}" for each in result.tampered if each.case]
    unearned = [f"{case}, a new test, proves nothing: {why}." for case, why in result.unearned.items()]
    return NewTests(
        cases=(*result.cases, *errors),
        before=result.before,
        passes=() if result.tampered else tuple(case for case in result.fixed if case not in result.unearned),
        notes=(*named, *unearned),
    )
