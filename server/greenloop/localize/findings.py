"""Gathers what a bug report needs: failures with the values of locals, siblings, reasons, versions.

It must not know how the report looks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.problem import Findings, Problem
from greenloop.core.records.spec import Region
from greenloop.core.run_state import Baseline
from greenloop.drafting.candidates.answers.changed_regions import with_file
from greenloop.drafting.context.versions import CONTAINER, version_line
from greenloop.localize.context import BaselineContext
from greenloop.localize.measuring import is_cut_short
from greenloop.localize.related_code import find_namesakes, find_nearest, find_used
from greenloop.localize.siblings import same_cause
from greenloop.project.sources import is_trusted
from greenloop_sandbox import CaseResult, Inspection
from greenloop_sandbox.report.inspections import InspectedFailure, inspected_failures

MOST_SEARCHED = 3  # suspects in whose files functions are searched that are named like the tests
MOST_INSPECTED = 4  # failing cases of the target, and siblings after them


async def gather_findings(
    context: BaselineContext,
    problem: Problem,
    cases: Sequence[CaseResult],
    results: Mapping[str, CaseResult],
    *,
    reasons: Mapping[Region, str] | None = None,
    related: Mapping[Region, str] | None = None,
) -> Findings:
    """Runs the failing cases once more to describe them; a failure here leaves the report shorter, and ends nothing.

    `results` are those of other tests of the target's files, as far as they are known.
    """
    failing = [case for case in cases if not case.passed]
    siblings = find_siblings(context, cases, results)
    known = {case.id for case in (*cases, *siblings)}
    inspected, versions = await asyncio.gather(
        _inspect(context, problem, [*failing[:MOST_INSPECTED], *siblings[:1]]), _version_line(context, problem)
    )
    findings = Findings(
        problem=problem,
        cases=cases,
        inspected=inspected,
        siblings=siblings,
        others=[each for each in _of_files(cases, results) if not each.passed and each.id not in known],
        reasons=reasons or {},
        related=related or {},
        versions=versions,
    )
    return await asyncio.to_thread(_with_related_code, findings, context)


def _with_related_code(findings: Findings, context: BaselineContext) -> Findings:
    """The findings with functions that belong to them though they may be no suspects."""
    problem = findings.problem

    def text_of(path: str) -> str | None:
        return problem.files[path] if path in problem.files else context.snapshot.text(path)

    suspects = findings.suspects
    nearest = find_nearest(findings.inspected.values(), text_of, context.patterns)
    paths = dict.fromkeys(region.path for region in (*nearest[:1], *suspects[:MOST_SEARCHED]))
    named = find_namesakes([case.id for case in findings.failing], paths, text_of)
    used = find_used(dict.fromkeys([*nearest[:1], *suspects[:1]]), text_of)
    every = {**findings.related, **named, **used}
    related = {region: reason for region, reason in every.items() if region not in (*suspects, *nearest)}
    for region in (*nearest, *related):
        problem = with_file(problem, region.path, text_of(region.path))
    return replace(findings, problem=problem, nearest=nearest, related=related)


async def findings_of(context: BaselineContext, baseline: Baseline, problem: Problem) -> Findings:
    """Gathers the findings of a whole baseline; the problem may know more than the baseline did."""
    results = baseline.measurement.results if baseline.measurement else {}
    return await gather_findings(context, problem, baseline.attempt.verdict.cases, results, reasons=baseline.reasons)


def find_siblings(
    context: BaselineContext, cases: Sequence[CaseResult], results: Mapping[str, CaseResult]
) -> list[CaseResult]:
    """Returns the failing tests of the target's files, without its own cases, that fail for the same cause."""
    own = {case.id for case in cases}
    others = [each for each in _of_files(cases, results) if each.id not in own]
    return same_cause(cases, others, lambda path: is_trusted(path, context.patterns))


def _of_files(cases: Sequence[CaseResult], results: Mapping[str, CaseResult]) -> list[CaseResult]:
    """The results of the files that these cases are in."""
    paths = {case.id.partition("::")[0] for case in cases}
    return [each for case, each in results.items() if case.partition("::")[0] in paths]


async def _inspect(
    context: BaselineContext, problem: Problem, cases: Sequence[CaseResult]
) -> Mapping[str, InspectedFailure]:
    """The failures by id; none of cases that hang or end the process, which would do so again."""
    ids = [case.id for case in cases if not is_cut_short(case)]
    if not ids:
        return {}
    stubs = {path: text for path, text in problem.files.items() if problem.originals.get(path) != text}
    try:
        execution = await context.run(ids, {**stubs, **problem.spec.files}, inspect=Inspection(), baseline=False)
    except CannotVerifyError:
        return {}
    return inspected_failures(execution)


async def _version_line(context: BaselineContext, problem: Problem) -> str:
    in_container = context.session.name.split(" ", maxsplit=1)[0] == CONTAINER
    if in_container and context.place.image:
        return ""
    return await asyncio.to_thread(lambda: version_line(problem, context.place, in_container=in_container))


def with_siblings(baseline: Baseline, context: BaselineContext) -> Baseline:
    """Returns the baseline whose problem knows the tests that fail for the same cause."""
    results = baseline.measurement.results if baseline.measurement else {}
    cases = [case for case in baseline.attempt.verdict.cases if not case.passed]
    siblings = tuple(case.id for case in find_siblings(context, cases, results))
    return replace(baseline, problem=replace(baseline.problem, siblings=siblings))
