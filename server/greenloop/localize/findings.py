"""Gathers what a bug report needs: failures with the values of locals, siblings, related code, reasons, versions.

It must not know how the report looks.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.problem import NAMESAKE, Findings, Problem
from greenloop.core.records.spec import Region
from greenloop.core.run_state import Baseline
from greenloop.core.test_selection import function_of
from greenloop.drafting.candidates.answers.changed_regions import with_file
from greenloop.drafting.context.versions import CONTAINER, version_line
from greenloop.localize.context import BaselineContext
from greenloop.localize.measuring import is_cut_short
from greenloop.localize.regions import TextOf, region_at
from greenloop.project.sources import is_trusted
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import Definition
from greenloop_sandbox import CaseResult, Failure, Inspection
from greenloop_sandbox.report.inspections import InspectedFailure, inspected_failures

MOST_NEAREST = 4  # functions of one traceback
MOST_USED = 3  # functions that another one uses
LONGEST_USED = 30  # lines of one
MOST_NAMESAKES = 2
LONGEST_NAME = 8  # letters of a test's name that say enough, where they are several words
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


# -- tests that fail for the same cause ---------------------------------------------------------------------------


def same_cause(
    targets: Iterable[CaseResult], others: Iterable[CaseResult], is_test: Callable[[str], bool]
) -> list[CaseResult]:
    """Returns the failing cases that seem to fail as one of the target's does; `is_test` tells paths of tests.

    They were raised in the same line of the project, or of their own test function (other parameters); failures in a
    helper of the tests must have the same difference, too.
    """
    causes = {_cause(case, is_test) for case in targets if case.failure and not case.passed} - {None}
    return [case for case in others if case.failure and not case.passed and _cause(case, is_test) in causes]


def _cause(case: CaseResult, is_test: Callable[[str], bool]) -> object:
    failure = case.failure
    frames = [frame for frame in failure.frames if not frame.path.startswith(("/", "<"))] if failure else []
    if failure is None or not frames:
        return None
    last = frames[-1]
    place = (failure.type, last.path, last.line)
    if not is_test(last.path):
        return place
    own = function_of(case.id).rpartition("::")[2]
    if last.function.rpartition(".")[2] == own:
        return (*place, own)
    return (*place, _difference(failure))


def _difference(failure: Failure) -> str:
    """Returns the difference that a failure shows, without the values that every case has of its own."""
    rows = [row for row in failure.message.split("\n") if re.match(r"\s*[-+?] ", row)]
    return "\n".join(rows) or failure.message.split("\n")[0]


# -- functions that belong to a report though they are no suspects ------------------------------------------------


def find_nearest(
    failures: Iterable[InspectedFailure], text_of: TextOf, patterns: Sequence[str] | None
) -> tuple[Region, ...]:
    """Returns the innermost functions of each failure's tracebacks outside tests, the innermost first."""
    found: dict[Region, None] = {}
    for failure in failures:
        for link in (*failure.chain[-1:], *failure.chain[:-1][:1]):
            regions = (
                region_at(frame.place.path, frame.place.line, text_of, patterns) for frame in reversed(link.frames)
            )
            found |= dict.fromkeys([*dict.fromkeys(region for region in regions if region)][:MOST_NEAREST])
    return tuple(found)


def find_used(regions: Iterable[Region], text_of: TextOf) -> Mapping[Region, str]:
    """Returns the functions of the same class or file that these use by name, with a reason for each."""
    found: dict[Region, str] = {}
    for region in regions:
        text = text_of(region.path) or ""
        source = definitions.line_span(text, region.start, region.end)
        owner = region.qualname.rpartition(".")[0]
        used = [
            item
            for item in definitions.find_definitions(text, region.path)
            if item.kind == "function" and item.qualname != region.qualname and _is_used(item, owner, source)
            if item.end - item.start < LONGEST_USED
        ]
        used.sort(key=lambda item: source.index(item.name))
        found |= {_region(region.path, item): f"used by `{region.label}`" for item in used[:MOST_USED]}
    return found


def find_namesakes(cases: Iterable[str], paths: Iterable[str], text_of: TextOf) -> Mapping[Region, str]:
    """Returns the functions of these files that tests, by their ids, are named after."""
    tests = dict.fromkeys(case.partition("[")[0].rpartition("::")[2] for case in cases)
    words = [name.removeprefix("test_").lower() for name in tests]
    words = [each for each in words if "_" in each and len(each) >= LONGEST_NAME]
    found: dict[Region, str] = {}
    for path in paths:
        items = definitions.find_definitions(text_of(path) or "", path)
        found |= {
            _region(path, item): NAMESAKE
            for item in items
            if item.kind == "function" and any(item.name.lower().endswith(each) for each in words)
        }
    return dict([*found.items()][:MOST_NAMESAKES])


def _is_used(item: Definition, owner: str, source: str) -> bool:
    if item.owner not in ("", owner):
        return False
    receiver = rf"\b(?:self|cls|{re.escape(owner)})\." if item.owner else r"(?<![\w.])"
    return re.search(rf"{receiver}{re.escape(item.name)}\b", source) is not None


def _region(path: str, item: Definition) -> Region:
    return Region(path=path, qualname=item.qualname, start=item.start, end=item.end)
