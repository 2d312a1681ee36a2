"""Runs tests in the sandbox over the code as it is now."""

from __future__ import annotations

from greenloop.core.records.model import ToolSpec
from greenloop.plugins.conversations.looks._project import Arguments, LookError, ProjectView
from greenloop.plugins.conversations.tracebacks import SHORT, render_failure, summarize_case
from greenloop_sandbox import Inspection, case_results
from greenloop_sandbox.report.cases import collect_errors, describe_end
from greenloop_sandbox.report.inspections import inspected_failures

MOST_SELECTORS = 20
MOST_CASES = 30  # failing cases that are named
MOST_FAILURES = 3  # failures that are shown whole

SPEC = ToolSpec(
    name="run",
    description="Run tests in the sandbox: pytest ids or paths of test files; shows what fails, with values of locals.",
    parameters={
        "type": "object",
        "properties": {"tests": {"type": "array", "items": {"type": "string"}}},
        "required": ["tests"],
    },
)


async def look(arguments: Arguments, project: ProjectView) -> str:
    """Returns how many tests passed, and the failures. Raises `LookError`."""
    given = arguments.get("tests")
    selectors = [given] if isinstance(given, str) else given
    if not isinstance(selectors, list) or not selectors or not all(isinstance(each, str) for each in selectors):
        raise LookError("`tests` must be a list of test ids.")
    if len(selectors) > MOST_SELECTORS:
        raise LookError(f"At most {MOST_SELECTORS} tests or files at once.")
    execution = await project.run([project.selector(each) for each in selectors], Inspection())
    if execution.broken:
        raise LookError(execution.broken)
    results = case_results(execution)
    if not results:
        errors = [f"{error.id}: {error.failure.type}: {error.failure.message}" for error in collect_errors(execution)]
        raise LookError("\n".join(errors) or describe_end(execution) or "pytest collects no such test.")
    failing = [result for result in results if result.outcome in ("failed", "error")]
    passed = sum(result.passed for result in results)
    rows = [f"{passed} passed, {len(failing)} failed of {len(results)}."]
    rows += [summarize_case(case) for case in failing[:MOST_CASES]]
    inspected = inspected_failures(execution)
    shown = [inspected[case.id] for case in failing if case.id in inspected][:MOST_FAILURES]
    return "\n".join([*rows, *(f"\n{failure.id}:\n{render_failure(failure, SHORT)}" for failure in shown)])
