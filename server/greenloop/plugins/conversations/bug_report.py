"""Writes the report of a failure: the test, the failure, the suspects with their code, versions.

Sections shrink one after the other until the report fits its room. It must not claim more than is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from greenloop.core.records.problem import NAMESAKE, Findings, Problem
from greenloop.core.records.spec import Case, Provenance, Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.text.tokens import Count
from greenloop.drafting.context import tests
from greenloop.drafting.prompt import fenced
from greenloop.plugins.conversations import tracebacks
from greenloop.plugins.conversations.shortening import (
    LONGEST_FUNCTION,
    LONGEST_OTHER,
    around_lines,
    without_long_docstrings,
    without_other_cases,
)
from greenloop.plugins.conversations.tracebacks import FULL, SHORT, Detail, render_failure, summarize_case
from greenloop_sandbox import CaseResult

MOST_NAMED = 12  # suspects that are only named
MOST_SIBLINGS = 8  # tests of the same cause that are named
MOST_BEFORE_RELATED = 4  # suspects before functions that are related to the failure in other ways
FIRST_RAISED, IN_TRACEBACK = "raised the exception that led to it", "in the traceback"
NEAREST = 2  # the likelihood of the innermost functions of tracebacks
MOST_CAUSES = 3  # failures that are shown whole, of cases that fail in different places


@dataclass(frozen=True, kw_only=True)
class _Size:
    """Size of a report; `code` is in tokens, `whole`: small files are shown whole."""

    code: int = 6000
    outlines: int = 1
    detail: Detail = FULL
    causes: int = MOST_CAUSES
    whole: bool = True
    helpers: bool = True


SIZES = (
    _Size(),
    _Size(code=3000),
    _Size(code=1300, causes=2, detail=replace(FULL, values=600, message=40)),
    _Size(code=900, outlines=0, causes=1, whole=False, detail=SHORT),
    _Size(code=600, outlines=0, causes=1, whole=False, helpers=False, detail=SHORT),
    _Size(code=250, outlines=0, causes=1, whole=False, helpers=False, detail=replace(SHORT, message=10, frames=3)),
)


def write_report(findings: Findings, room: int, count: Count) -> str:
    """Returns the longest report of at most `room` tokens; the shortest one where none fits."""
    texts = (_write(findings, size, count) for size in SIZES)
    text = ""
    for text in texts:
        if count(text) <= room:
            break
    return text


def _write(findings: Findings, size: _Size, count: Count) -> str:
    sections = (
        _headline(findings),
        _tests(findings, size),
        _failures(findings, size),
        _missing(findings.problem),
        _data(findings.problem, size, count, with_value=True),
        _code(findings, size, count),
        _data(findings.problem, size, count, with_value=False),
        _limit(findings.problem),
        findings.versions,
        _remark(findings.problem),
    )
    return "\n\n".join(section for section in sections if section)


def _headline(findings: Findings) -> str:
    failing, total = findings.failing, len(findings.cases)
    names = ", ".join(f"`{case.id}`" for case in failing[:MOST_SIBLINGS])
    more = f" and {len(failing) - MOST_SIBLINGS} more" if len(failing) > MOST_SIBLINGS else ""
    counted = f" ({len(failing)} of {total} cases of the target)" if total > 1 else ""
    rows = [f"This must pass, and fails every time: {names}{more}{counted}."]
    if findings.siblings:
        listed = _name_tests(findings.siblings)
        rows.append(f"These tests of the same file seem to fail for the same cause, and must pass too: {listed}.")
    if findings.others:
        rows.append(f"These tests of the same file fail too, maybe for another cause: {_name_tests(findings.others)}.")
    return "\n".join(rows)


def _name_tests(cases: Sequence[CaseResult]) -> str:
    listed = ", ".join(f"`{case.id.rpartition('::')[2]}`" for case in cases[:MOST_SIBLINGS])
    return f"{listed} and {len(cases) - MOST_SIBLINGS} more" if len(cases) > MOST_SIBLINGS else listed


def _tests(findings: Findings, size: _Size) -> str:
    failing = {case.id for case in findings.failing}
    chosen = [case for case in findings.problem.spec.cases if case.id in failing]
    problem = replace(findings.problem, spec=replace(findings.problem.spec, cases=tuple(chosen)), approaches={})
    parts = []
    for excerpt in tests.find_excerpts(problem):
        is_test = excerpt.value >= tests.OWN_TESTS
        if not is_test and not size.helpers:
            continue
        code = _shortened_tests(excerpt.text, chosen, findings) if is_test else without_long_docstrings(excerpt.text)
        parts.append(f"{excerpt.title}\n{fenced(code)}")
    examples = [case for case in chosen if case.provenance is not Provenance.USER and case.source]
    parts += [f"From the docstring: `{case.source}`" for case in examples[:MOST_SIBLINGS]]
    return "\n\n".join(parts)


def _shortened_tests(code: str, cases: Sequence[Case], findings: Findings) -> str:
    code = without_other_cases(code, cases[0].id if cases else "")
    lines = [
        number
        for failure in findings.inspected.values()
        for link in failure.chain
        for frame in link.frames
        for number, row in enumerate(code.split("\n"), 1)
        if frame.code and row.strip() == frame.code
    ]
    return around_lines(code, lines)


def _failures(findings: Findings, size: _Size) -> str:
    parts: list[str] = []
    places: set[object] = set()
    for case in findings.failing:
        failure = findings.inspected.get(case.id)
        if failure is None or not failure.chain:
            continue
        frames = failure.chain[-1].frames
        place = (failure.chain[-1].type, frames[-1].place if frames else None)
        if place in places or len(places) >= size.causes:
            continue
        places.add(place)
        parts.append(
            f"`{case.id}` fails so, with the values of locals:\n{fenced(render_failure(failure, size.detail), 'text')}"
        )
    shown = [case for case in findings.failing if case.id not in findings.inspected or not parts]
    parts += [fenced("\n".join(summarize_case(case) for case in shown[:MOST_SIBLINGS]), "text")] if shown else []
    if not findings.inspected and (first := next((case for case in shown if case.failure and case.failure.text), None)):
        assert first.failure is not None
        parts.append(fenced(first.failure.text, "text"))
    return "\n\n".join(parts)


def _missing(problem: Problem) -> str:
    """Names the code that the tests need and that does not exist yet; empty without any."""
    created = [region for region in problem.regions if region.created]
    listed = ", ".join(f"`{region.qualname}` in `{region.path}`" for region in created)
    return f"It does not exist yet, and is to be written: {listed}." if created else ""


def _data(problem: Problem, size: _Size, count: Count, *, with_value: bool) -> str:
    """Shows the data files in which a value of the failure stands, or names and shows the others."""
    parts = []
    for data in (each for each in problem.data if not each.role and bool(each.line) is with_value):
        text = with_plain_ends(problem.files[data.path]).rstrip()
        sign = f"; line {data.line} has the value {data.observed} of the failure" if with_value else ""
        head = f"`{data.path}` is data that `{data.reader}` reads{sign}"
        is_shown = count(text) <= size.code / 2
        parts.append(f"{head}:\n{fenced(text, '')}" if is_shown else f"{head}. It is long: look at it.")
    note = "Where data is wrong, change the data, and no code.\n" if parts and with_value else ""
    return note + "\n\n".join(parts)


def _limit(problem: Problem) -> str:
    return f"Only {problem.names} may change, and what it imports." if problem.exact else ""


def _remark(problem: Problem) -> str:
    return f"A remark: {problem.instruction.removeprefix('A comment asks: ')}" if problem.instruction else ""


# -- the code -------------------------------------------------------------------------------------------------------


def _code(findings: Findings, size: _Size, count: Count) -> str:
    ordered = _order_suspects(findings)
    if not ordered:
        return "No function of the project ran in it: look at what the test reads."
    shown = _fitting(findings, ordered, size, count)
    parts = [_most_likely(findings, [each.region for each in shown])]
    for number, path in enumerate(dict.fromkeys(each.region.path for each in shown)):
        text, own = findings.problem.files[path], [each for each in shown if each.region.path == path]
        if own[0].is_whole:
            parts.append(f"`{path}`, the whole file:\n{fenced(tracebacks.whole_file(text))}")
            continue
        code = tracebacks.functions(text, path, {each.region: each.longest for each in own}, _lines(findings, path))
        if size.helpers and (used := tracebacks.names_used(text, code)):
            code = f"{used}\n\n{code}"
        parts.append(f"From `{path}`:\n{fenced(code)}")
        if number < size.outlines:
            parts.append(fenced(tracebacks.outline(text, path, [each.region for each in own]), "text"))
    known = {each.region for each in shown}
    named = [region for region in ordered if region not in known][:MOST_NAMED]
    if named:
        listed = "\n".join(f"- {_name(region)}{_reason(findings, region)}" for region in named)
        parts.append(f"These are not shown:\n{listed}")
    return "\n\n".join(parts)


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """A function in a report; of one with more than `longest` lines a part is shown. `is_whole`: its file is."""

    region: Region
    longest: int = LONGEST_FUNCTION
    is_whole: bool = False


def _fitting(findings: Findings, ordered: Sequence[Region], size: _Size, count: Count) -> list[_Shown]:
    """The functions whose code fits, at least the first one."""
    shown: list[_Shown] = []
    whole: set[str] = set()
    room = size.code
    for number, region in enumerate(ordered):
        text = findings.problem.files[region.path]
        if region.path in whole:
            shown.append(_Shown(region=region, is_whole=True))
            continue
        is_short = text.count("\n") <= (tracebacks.SHORT_FILE if number else tracebacks.FIRST_FILE)
        is_started = any(each.region.path == region.path for each in shown)
        if size.whole and is_short and not is_started and (cost := count(tracebacks.whole_file(text))) <= room:
            whole.add(region.path)
            shown.append(_Shown(region=region, is_whole=True))
            room -= cost
            continue
        is_likely = _likelihood(findings, region) <= NEAREST
        longest = LONGEST_FUNCTION if is_likely else LONGEST_OTHER
        is_long = region.end - region.start >= longest
        if (
            is_long
            and not is_likely
            and not any(region.start <= line <= region.end for line in _lines(findings, region.path))
        ):
            continue  # nothing says which part of it matters
        code = tracebacks.functions(text, region.path, {region: longest}, _lines(findings, region.path))
        if number and (cost := count(code)) > room:
            continue
        shown.append(_Shown(region=region, longest=longest))
        room -= count(code)
    return shown


def _most_likely(findings: Findings, shown: Sequence[Region]) -> str:
    rows = [f"- {_name(region)}{_reason(findings, region)}" for region in shown]
    return "Most likely the fault is in one of these; look elsewhere if they are innocent:\n" + "\n".join(rows)


def _name(region: Region) -> str:
    return f"`{region.label}` ({region.path}:{region.start})"


def _reason(findings: Findings, region: Region) -> str:
    reasons = [FIRST_RAISED] if region == _origin(findings) else []
    known = findings.reasons.get(region) or findings.related.get(region, "")
    is_near = region in findings.nearest and not reasons
    reasons += [known or IN_TRACEBACK] if known or is_near else []
    return f": {'; '.join(reasons)}" if reasons else ""


def _order_suspects(findings: Findings) -> list[Region]:
    """The functions of a report, the likeliest first."""
    first, rest = findings.suspects[:MOST_BEFORE_RELATED], findings.suspects[MOST_BEFORE_RELATED:]
    every = dict.fromkeys([*findings.nearest, *first, *findings.related, *rest])
    return sorted(every, key=lambda region: _likelihood(findings, region))


def _likelihood(findings: Findings, region: Region) -> int:
    """0 for the likeliest: what raised the exception, the first suspect, the innermost ones of tracebacks, the others.

    Functions further out in a traceback are the least likely, and before all others comes what raised the first one
    of a chain.
    """
    reason = findings.reasons.get(region, "")
    if region == _origin(findings):
        return -1
    if reason.startswith("raised"):
        return 0
    if region in findings.suspects[:1]:
        return 1
    if region in findings.nearest or findings.related.get(region) == NAMESAKE:
        return NEAREST
    return NEAREST + 1 + (reason == IN_TRACEBACK)


def _origin(findings: Findings) -> Region | None:
    """The function that raised the first exception of a chain of several, in the first failure that is described."""
    chain = next((failure.chain for failure in findings.inspected.values()), ())
    if len(chain) < 2 or not chain[0].frames:
        return None
    place = chain[0].frames[-1].place
    every = (*findings.suspects, *findings.nearest)
    inside = (each for each in every if each.path == place.path and each.start <= place.line <= each.end)
    return min(inside, key=lambda each: each.end - each.start, default=None)


def _lines(findings: Findings, path: str) -> list[int]:
    """The lines of a file that stand in tracebacks."""
    return list(dict.fromkeys(_traceback_lines(findings, path)))


def _traceback_lines(findings: Findings, path: str) -> Iterator[int]:
    for failure in findings.inspected.values():
        for link in failure.chain:
            yield from (frame.place.line for frame in link.frames if frame.place.path == path)
