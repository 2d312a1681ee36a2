"""One failing case again, block by block with the values of the variables before and after each.

The trace of LDB (Zhong, Wang, Shang: "Debug like a Human", arXiv 2402.16906) and its cuts: one failing visible case, at
most 10 blocks, values of at most 100 characters. Where no trace can be had, what was asserted and what came out.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence

from greenloop.core.compose import compose
from greenloop.core.diff import flat
from greenloop.core.nouns import Attempt, CaseResult, Execution, Lines, Note, Problem, Provenance, Usage
from greenloop.core.ports import Tools
from greenloop.core.records import Watched, results, watched
from greenloop.core.source import definitions, plain_name, tree
from greenloop.feedback._blocks import HOW, Block, Visit, blocks, visits
from greenloop.feedback._findings import told
from greenloop.feedback._statements import asserted, sources
from greenloop.feedback._values import short

FIRST = LAST = 5  # blocks shown of each end
VALUE = 100  # characters of one value
NAMES = 6  # variables on each side of a block
ROWS = 8  # of one block's code
ROW = 120  # characters
DOCTEST = "doctest:"
ENOUGH = "Enough"  # what sandbox/watching.py ends such a case with

_WORD = re.compile(r"[^\W\d]\w*")


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:
    """How one failing case went through the newest attempt's code.

    The field `case` names it; `traced` is there where its blocks are told.
    """
    newest = attempts[-1]
    verdict = newest.verdict
    failing = [case for case in verdict.cases if not case.passed]
    failing = failing or [case for case in verdict.collateral if not case.passed]
    if newest.finding or not failing:
        return Note(text=told(problem, attempts, _outcomes))
    case = tools.rng.choice(failing)
    text = _outcome(problem, newest, case)
    found = placed(problem, newest)
    if not found:
        return Note(text=text)
    execution = await tools.run(newest, selectors(problem, case.id), [lines for lines, _node in found])
    trace = shown(problem, newest, _trace(execution, case.id), found)
    if trace and any(result.id == case.id and _cut_off(result) for result in results(execution)):
        trace += "\n... and so on, without an end in sight ..."
    usage = Usage(test_seconds=execution.seconds)
    if not trace:
        return Note(text=text, usage=usage)
    return Note(text=f"{trace}\n{text}", fields={"case": case.id, "traced": True}, usage=usage)


def placed(problem: Problem, attempt: Attempt) -> list[tuple[Lines, ast.stmt]]:
    """Where the regions and the helpers of an attempt lie in its texts; none in a text that cannot be parsed."""
    files = dict(problem.files)
    helpers: tuple[str, ...] = ()
    if attempt.candidate:
        files.update(compose(problem, attempt.candidate))
        helpers = attempt.candidate.helpers
    added = {name for helper in helpers for name, _node in _definitions(helper)}
    found = []
    for path in dict.fromkeys(region.path for region in problem.regions):
        names = {plain_name(region.qualname) for region in problem.regions if region.path == path} | added
        for name, node in _definitions(flat(files[path])):
            if name in names:
                found.append((Lines(path=path, start=node.lineno, end=node.end_lineno or node.lineno), node))
    return found


def selectors(problem: Problem, case: str) -> tuple[str, ...]:
    """What the runner is asked for to run this case: a doctest's example only runs with those before it."""
    mine = next((each for each in problem.spec.cases if each.id == case), None)
    if mine is not None and mine.provenance is Provenance.DOCTEST:
        return tuple(each for each in problem.spec.selectors if each.startswith(DOCTEST)) or problem.spec.selectors
    return (case,)


def shown(problem: Problem, attempt: Attempt, trace: Watched | None, found: Sequence[tuple[Lines, ast.stmt]]) -> str:
    """The blocks that ran, the first and the last of them; "" where nothing was watched."""
    if trace is None:
        return ""
    parts = [block for lines, node in found for block in blocks(lines.path, [node])]
    ran = visits(trace, parts)
    if not ran:
        return ""
    texts = {path: text.split("\n") for path, text in sources(problem, attempt).items()}
    pieces = [_block(number, visit, texts) for number, visit in enumerate(ran[: FIRST + LAST], 1)]
    if len(ran) > FIRST + LAST or trace.left_out:
        pieces = [_block(number, visit, texts) for number, visit in enumerate(ran[:FIRST], 1)]
        more = "more than " if trace.left_out else ""
        pieces.append(f"... {more}{max(len(ran) - FIRST - LAST, 0)} blocks left out ...")
        begin = max(len(ran) - LAST, FIRST)
        pieces += [_block(number, visit, texts) for number, visit in enumerate(ran[begin:], begin + 1)]
    return "\n".join(pieces)


def _definitions(text: str) -> list[tuple[str, ast.stmt]]:
    found = tree(text)
    return [] if isinstance(found, SyntaxError) else list(definitions(found.body))


def _trace(execution: Execution, case: str) -> Watched | None:
    return None if execution.broken else watched(execution).get(case)


def _cut_off(result: CaseResult) -> bool:
    """Whether the watched run was ended because it ran too many lines."""
    return result.failure is not None and result.failure.type == ENOUGH


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
    """One comment with the variables; how the call ended comes last and is never left out."""
    names = [name for name in values if name not in HOW][:NAMES]
    parts = [f"{name}={values[name][:VALUE]}" for name in names]
    parts += [f"{name} {values[name][:VALUE]}" for name in HOW if name in values]
    return f"# {side}: {', '.join(parts)}" if parts else ""


def _outcomes(problem: Problem, attempt: Attempt) -> str:
    failing = [case for case in attempt.verdict.cases if not case.passed]
    return _outcome(problem, attempt, failing[0]) if failing else short(attempt.verdict.reason)


def _outcome(problem: Problem, attempt: Attempt, case: CaseResult) -> str:
    """`assertion X` but `output Y`, or what was raised instead."""
    failure = case.failure
    said = asserted(problem, case, sources(problem, attempt)) or case.id.rpartition("::")[2]
    if failure is None:
        return f"`{short(said)}` was {case.outcome}."
    if failure.observed is not None:
        return f"`{short(said)}` fails: the output was {short(failure.observed)}."
    return f"`{short(said)}` fails: {failure.type}: {short(failure.message)}"
