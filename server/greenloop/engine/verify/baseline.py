"""Baseline of a revision: its tests over its own code: which exist, which pass, and whether they can run at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from greenloop.core.errors import CannotVerifyError, GreenloopError, UsageError
from greenloop.core.records.spec import Case
from greenloop.engine.verify.setup import VerificationContext
from greenloop.project.environment.faults import find_environment_fault
from greenloop.project.targets import nearest_names
from greenloop_sandbox import Execution, TestRun, case_results, collected_cases
from greenloop_sandbox.report.cases import CollectError, collect_errors, describe_end


@dataclass(frozen=True, kw_only=True)
class RevisionBaseline:
    """Cases by id and their outcomes with the revision's own code.

    `broken` maps its test files that cannot be imported with that code to the reason.
    """

    outcomes: Mapping[str, str]
    cases: Mapping[str, Case]
    broken: Mapping[str, str] = field(default_factory=dict)


async def run_revision(context: VerificationContext) -> RevisionBaseline:
    """Runs the revision's tests over its own code.

    Raises `CannotVerifyError` when they cannot run, `UsageError` when a target does not exist.
    """
    revision = context.revision
    context.report_status(f"running the tests of {context.request.revision} over its own code")
    execution = await context.run(
        TestRun(selectors=context.request.targets, files=revision.old_code, without=revision.new_code, baseline=True)
    )
    _refuse_unfinished(context, execution)
    results = {result.id: result for result in case_results(execution)}
    errors = collect_errors(execution)
    _refuse_environment(context, execution)
    cases = {
        item.id: Case(id=item.id, path=item.path, line=item.line, provenance=context.provenance(item.path, item.id))
        for item in collected_cases(execution)
    }
    broken = {error.id: _error_line(error) for error in errors if error.id in revision.trusted}
    if not cases:
        generated = _find_generated_module(context, errors)
        if generated or not broken:
            raise _no_tests_error(context, execution, generated)
    return RevisionBaseline(
        outcomes={case: result.outcome for case, result in results.items()},
        cases=cases,
        broken=broken,
    )


def _refuse_unfinished(context: VerificationContext, execution: Execution) -> None:
    revision = context.request.revision
    if execution.killed == "timeout":
        raise CannotVerifyError(
            f"The tests of {revision} did not end within {context.seconds:g} s with its own code.",
            remedy="Allow more time with `--seconds N`, or name the tests that matter.",
        )
    if (end := describe_end(execution)) and (execution.killed or collected_cases(execution)):
        raise CannotVerifyError(
            f"The tests of {revision} stop early with its own code: {end}.",
            remedy="Name the tests that finish.",
        )


def _refuse_environment(context: VerificationContext, execution: Execution) -> None:
    """Raises for an environment fault, such as a missing package, unless a passing test shows that tests can run."""
    results = case_results(execution)
    if any(result.passed for result in results):
        return
    if any(_names_module(error, path) for error in collect_errors(execution) for path in context.revision.new_code):
        return  # test first: the code under test has the module, also where the disk does not
    failures = [result.failure for result in results if result.failure]
    failures += [error.failure for error in collect_errors(execution)]
    place = context.place
    fault = find_environment_fault(failures, place.environment, root=place.root, network=place.network)
    if fault is not None:
        raise CannotVerifyError(fault.sentence, remedy=fault.remedy)


def _error_line(error: CollectError) -> str:
    return f"{error.failure.type}: {error.failure.message}".splitlines()[0]


def _find_generated_module(context: VerificationContext, errors: tuple[CollectError, ...]) -> str:
    """Finds a module that the revision's code imports but lacks and the working tree has: a build generated it.

    Test-first code looks similar, but there only the tests of the revision import the module, not its code.
    """
    for error in errors:
        frames = error.failure.frames
        if error.missing_name is None or not frames or frames[-1].path in context.revision.trusted:
            continue
        for path in (*context.revision.new_code, *context.revision.removed_paths):
            if _names_module(error, path):
                return path
    return ""


def _names_module(error: CollectError, path: str) -> bool:
    """Is the file the module that could not be imported?"""
    if error.missing_name is None:
        return False
    module_path = error.missing_name.replace(".", "/")
    return f"/{path}".endswith((f"/{module_path}.py", f"/{module_path}/__init__.py"))


def _no_tests_error(context: VerificationContext, execution: Execution, generated: str) -> GreenloopError:
    revision, targets = context.request.revision, context.request.targets
    if generated:
        return CannotVerifyError(
            f"The code of {revision} needs {generated}, which {revision} does not have.",
            remedy=f"If a build generates it, keep it: `--keep {generated}`.",
        )
    if errors := collect_errors(execution):
        return CannotVerifyError(
            f"The tests of {revision} cannot be collected with its own code: {errors[0].id}: {_error_line(errors[0])}",
            remedy="Choose a revision whose tests run, with `--base REV`.",
        )
    if targets:
        similar = nearest_names(targets[0], sorted(context.revision.trusted))
        return UsageError(
            f"{revision} has no test {', '.join(targets)}.",
            remedy=f"Did you mean: {', '.join(similar)}" if similar else "Name a test, a test file or a folder of it.",
        )
    rows = [row.strip() for row in execution.output.splitlines() if row.strip()]
    return CannotVerifyError(
        f"pytest finds no test in {revision}" + (f": {rows[-1]}" if rows else "."),
        remedy="Choose a revision that has tests, with `--base REV`.",
    )
