"""Checks whether properties can be tested: can Hypothesis run here and draw from every strategy?

It runs once in the sandbox, before any candidate, over the user's own code, none of which is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.ports import Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Region
from greenloop.specs.properties import property_tests
from greenloop.specs.properties.value_strategies import ParameterStrategy
from greenloop_sandbox import Execution, TestRun, case_results, collected_cases, forged
from greenloop_sandbox.report.cases import collect_errors, describe_end

KIND = "values"
EXAMPLES = 5
SECONDS = 60.0
LONGEST = 200  # characters of a reason reported by Hypothesis or pytest
_IMPORTING = ("ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError", "NameError")


async def probe_properties(
    values: Sequence[ParameterStrategy], region: Region, module: str, problem: Problem, tools: Tools
) -> str:
    """Why properties cannot be tested, in one sentence; empty when they can."""
    settings = property_tests.SETTINGS.replace(f"max_examples={property_tests.EXAMPLES}", f"max_examples={EXAMPLES}")
    checks = [
        Check(
            body=f"repr({each.name})",
            line=region.start,
            provenance=Provenance.PROPERTY,
            imports=(property_tests.HYPOTHESIS, property_tests.NAMES),
            decorators=(settings, f"given({each.name}={each.strategy})"),
            parameters=each.name,
        )
        for each in values
    ]
    probe_spec = build_test_file(region, module, KIND, checks)
    files = {**problem.buffers, **{path: text.encode() for path, text in {**problem.files, **probe_spec.files}.items()}}
    execution = await tools.session.run(TestRun(selectors=probe_spec.selectors, files=files, seconds=SECONDS))
    if reason := _failure_reason(execution):
        return f"Property tests are skipped because Hypothesis does not run here: {reason}."
    results = {each.id: each for each in case_results(execution)}
    failures = [
        (value.name, results[case.id].failure)
        for value, case in zip(values, probe_spec.cases, strict=True)
        if case.id in results
    ]
    # A module that cannot be imported tells nothing about values, and fails every later test.
    return missing_values_doubt([name for name, failure in failures if failure and failure.type not in _IMPORTING])


def missing_values_doubt(names: Sequence[str]) -> str:
    """The doubt about parameters without values; empty if there are none."""
    listed = " and ".join(f"`{name}`" for name in names)
    return f"No values can be made up for {listed}, so no properties are tried." if names else ""


def _failure_reason(execution: Execution) -> str:
    """Why the probe could not run, where that is known."""
    reason = execution.broken or forged(execution)
    if not reason and (errors := collect_errors(execution)):
        reason = errors[0].failure.message or errors[0].failure.type
    elif not reason and (execution.killed or not collected_cases(execution)):
        reason = describe_end(execution) or "no test was collected"
    return " ".join(reason.split())[:LONGEST].rstrip(". ")
