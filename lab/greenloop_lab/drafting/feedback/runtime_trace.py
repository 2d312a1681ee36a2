"""Traces one failing case block by block, with the values of variables before and after each.

The trace and the limits are those of LDB (Zhong, Wang, Shang: "Debug like a Human", arXiv 2402.16906): one failing
visible case, at most 10 blocks, values of at most 100 characters. Without a trace, the assertion and the outcome.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence

from greenloop.core.compose import compose
from greenloop.core.ports import Tools
from greenloop.core.python.ast_source import find_definitions, plain_name, statements_of
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Usage
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.feedback._failing_lines import attempt_sources, failed_statement
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback._value_diff import shorten
from greenloop_lab.drafting.feedback._blocks import HOW, Block, Visit, basic_blocks, block_visits
from greenloop_sandbox import CaseResult, WatchedLines, case_results
from greenloop_sandbox.report.traces import LineTrace, line_traces

FIRST = LAST = 5  # blocks shown at the beginning and at the end of a trace
VALUE = 100  # maximum characters of one value
NAMES = 6  # variables before and after a block
ROWS = 8  # lines of one block's code
ROW = 120  # characters of a line
DOCTEST = "doctest:"
# With it greenloop_sandbox/inside/tracing/line_tracer.py ends a case that runs too many lines.
LINE_LIMIT = "LineLimitReached"

_WORD = re.compile(r"[^\W\d]\w*")


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """The path of one failing case through the newest attempt's code.

    The field `case` names it; `traced` is set where its blocks are shown.
    """
    newest = attempts[-1]
    verdict = newest.verdict
    failing = [case for case in verdict.cases if not case.passed]
    failing = failing or [case for case in verdict.collateral if not case.passed]
    if newest.finding or not failing:
        return FeedbackNote(text=describe_newest(problem, attempts, _outcomes))
    case = tools.rng.choice(failing)
    text = _outcome(problem, newest, case)
    located = watched_definitions(problem, newest)
    if not located:
        return FeedbackNote(text=text)
    execution = await tools.run(newest, selectors(problem, case.id), [lines for lines, _node in located])
    lines = None if execution.broken else line_traces(execution).get(case.id)
    trace = render_trace(problem, newest, lines, located)
    kinds = [result.failure.type for result in case_results(execution) if result.id == case.id and result.failure]
    if trace and LINE_LIMIT in kinds:
        trace += "\n... and so on, without an end in sight ..."
    usage = Usage(test_seconds=execution.seconds)
    if not trace:
        return FeedbackNote(text=text, usage=usage)
    return FeedbackNote(text=f"{trace}\n{text}", fields={"case": case.id, "traced": True}, usage=usage)


def watched_definitions(problem: Problem, attempt: Attempt) -> list[tuple[WatchedLines, ast.stmt]]:
    """The lines of an attempt's regions and helpers in its files; none of a file that cannot be parsed."""
    files = dict(problem.files)
    helpers: tuple[str, ...] = ()
    if attempt.candidate:
        files.update(compose(problem, attempt.candidate))
        helpers = attempt.candidate.helpers
    helper_names = {name for helper in helpers for name, _node in _definitions(helper)}
    located = []
    for path in dict.fromkeys(region.path for region in problem.regions):
        names = {plain_name(region.qualname) for region in problem.regions if region.path == path} | helper_names
        for name, node in _definitions(with_plain_ends(files[path])):
            if name in names:
                located.append((WatchedLines(path=path, start=node.lineno, end=node.end_lineno or node.lineno), node))
    return located


def selectors(problem: Problem, case: str) -> tuple[str, ...]:
    """The runner's selectors for this case; a doctest example runs only with those before it."""
    target = next((each for each in problem.spec.cases if each.id == case), None)
    if target is not None and target.provenance is Provenance.DOCTEST:
        return tuple(each for each in problem.spec.selectors if each.startswith(DOCTEST)) or problem.spec.selectors
    return (case,)


def render_trace(
    problem: Problem, attempt: Attempt, trace: LineTrace | None, watched: Sequence[tuple[WatchedLines, ast.stmt]]
) -> str:
    """The first and the last blocks that ran; "" where nothing was watched."""
    if trace is None:
        return ""
    all_blocks = [block for lines, node in watched for block in basic_blocks(lines.path, [node])]
    runs = block_visits(trace, all_blocks)
    if not runs:
        return ""
    texts = {path: text.split("\n") for path, text in attempt_sources(problem, attempt).items()}
    pieces = [_block(number, visit, texts) for number, visit in enumerate(runs[: FIRST + LAST], 1)]
    if len(runs) > FIRST + LAST or trace.left_out:
        pieces = [_block(number, visit, texts) for number, visit in enumerate(runs[:FIRST], 1)]
        more = "more than " if trace.left_out else ""
        pieces.append(f"... {more}{max(len(runs) - FIRST - LAST, 0)} blocks left out ...")
        begin = max(len(runs) - LAST, FIRST)
        pieces += [_block(number, visit, texts) for number, visit in enumerate(runs[begin:], begin + 1)]
    return "\n".join(pieces)


def _definitions(text: str) -> list[tuple[str, ast.stmt]]:
    return list(find_definitions(statements_of(text)))


def _block(number: int, visit: Visit, texts: Mapping[str, Sequence[str]]) -> str:
    code = _code(visit.block, texts)
    words = set(_WORD.findall("\n".join(code)))
    before = {name: text for name, text in visit.before.items() if name in words}
    rows = [f"[BLOCK-{number}]", _values("before", before), *code, _values("after", visit.after)]
    return "\n".join(row for row in rows if row)


def _code(block: Block, texts: Mapping[str, Sequence[str]]) -> list[str]:
    rows = list(texts.get(block.path, ()))[block.start - 1 : block.end]
    rows = [row[:ROW] for row in textwrap.dedent("\n".join(rows)).split("\n") if row.strip()]
    return rows if len(rows) <= ROWS else [*rows[: ROWS // 2], "...", *rows[-ROWS // 2 :]]


def _values(side: str, values: Mapping[str, str]) -> str:
    """One comment with the variables; the end of the call comes last and is never left out."""
    names = [name for name in values if name not in HOW][:NAMES]
    parts = [f"{name}={values[name][:VALUE]}" for name in names]
    parts += [f"{name} {values[name][:VALUE]}" for name in HOW if name in values]
    return f"# {side}: {', '.join(parts)}" if parts else ""


def _outcomes(problem: Problem, attempt: Attempt) -> str:
    failing = [case for case in attempt.verdict.cases if not case.passed]
    return _outcome(problem, attempt, failing[0]) if failing else shorten(attempt.verdict.reason)


def _outcome(problem: Problem, attempt: Attempt, case: CaseResult) -> str:
    """The assertion with the observed value, or with the exception."""
    failure = case.failure
    assertion = failed_statement(problem, case, attempt_sources(problem, attempt)) or case.id.rpartition("::")[2]
    if failure is None:
        return f"`{shorten(assertion)}` was {case.outcome}."
    if failure.observed is not None:
        return f"`{shorten(assertion)}` fails: the output was {shorten(failure.observed)}."
    return f"`{shorten(assertion)}` fails: {failure.type}: {shorten(failure.message)}"
