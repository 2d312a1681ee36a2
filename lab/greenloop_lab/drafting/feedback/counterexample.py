"""The violated property and the smallest input that breaks it (PGS, arXiv 2506.18315).

Of several violated properties, the one with the shortest counterexample is shown: it is the easiest to follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance
from greenloop.drafting.feedback import _rejected_answers
from greenloop.drafting.feedback._value_diff import shorten
from greenloop_lab.drafting.feedback._counterexample import CLAIM, LONGEST, counterexample, stated_arguments
from greenloop_sandbox import CaseResult, Failure

LAST = 1 << 20


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:  # noqa: ARG001
    """The simplest failing case: binding cases first, then properties, the shortest counterexample first."""
    return FeedbackNote(text=_rejected_answers.describe_newest(problem, attempts, _simplest))


def _simplest(problem: Problem, attempt: Attempt) -> str:
    verdict = attempt.verdict
    cases = {case.id: case for case in problem.spec.cases}
    failing = verdict.failing
    if not failing:
        return shorten(verdict.reason)
    binding = [each for each in failing if each.id not in cases or cases[each.id].binding]
    simplest = min(binding or failing, key=_length)
    return _text(problem, cases.get(simplest.id), simplest)


def _length(result: CaseResult) -> int:
    """Characters of the inputs; a failure that names none comes last."""
    inputs = counterexample(result.failure) if result.failure else {}
    return len(_format_arguments(inputs)) if inputs else LAST


def _text(problem: Problem, case: Case | None, result: CaseResult) -> str:
    failure = result.failure or Failure(type=result.outcome, message="")
    if case is None or case.provenance is not Provenance.PROPERTY:
        statement = case.source if case and case.source else result.id
        if failure.expected is not None and failure.observed is not None:
            return f"{statement}\n  expected: {shorten(failure.expected)}\n  observed: {shorten(failure.observed)}"
        return f"{statement}\n  {failure.type}: {shorten(failure.message)}"
    name, _colon, expression = case.source.partition(": ")
    function = problem.regions[0].qualname if problem.regions else "it"
    rows = [f"The property `{violated_property(failure) or name}` does not hold: {expression}"]
    if inputs := counterexample(failure):
        rows.append(f"  smallest input that breaks it: {shorten(_format_arguments(inputs))}")
    rows.append(f"  {function} gave: {shorten(outcome(failure))}")
    return "\n".join(rows)


def _format_arguments(arguments: Mapping[str, str]) -> str:
    """The arguments in one readable line."""
    return ", ".join(f"{name} = {value}" for name, value in arguments.items())


def violated_property(failure: Failure) -> str:
    """The name of the violated property; empty when something else was raised."""
    match = CLAIM.search(failure.message[:LONGEST])
    return match["name"] if match else ""


def outcome(failure: Failure) -> str:
    """The result's repr, or the exception in one line."""
    _call, gave = stated_arguments(failure.message[:LONGEST])
    if gave:
        return gave
    first = failure.message.strip().split("\n")[0]
    return f"{failure.type}: {first}" if first else failure.type
