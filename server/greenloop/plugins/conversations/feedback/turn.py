"""Describes the result of the last edits to a capable model: the new failure alone, what broke, what is still red.

Nothing is repeated.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.classify import failure_key
from greenloop.core.election import base_of_turns
from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status
from greenloop.core.summary import CANNOT
from greenloop.drafting.feedback._rejected_answers import ADVICE, rejection_sentence
from greenloop.drafting.prompt import fenced
from greenloop.plugins.conversations.tracebacks import FULL, SHORT, render_failure, summarize_case
from greenloop_sandbox import CaseResult, Inspection
from greenloop_sandbox.report.inspections import inspected_failures

DESCRIBES_PASSES = True  # a pass may be none that is accepted
MOST_NAMED = 10  # tests
MOST_SHOWN = 2  # failures that are shown whole
# Where a turn takes other advice than an answer with one function: it may have edits of any file.
IN_TURNS = {
    "EmptyAnswer": "Answer with edits, look at the project, or say CANNOT: why.",
    "NoCode": "Answer with edits, look at the project, or say CANNOT: why.",
    "TruncatedAnswer": "Answer with edits alone, of no more lines than they need.",
    "WrongFunction": "Answer with edits: blocks of lines to search and of new ones, below the path of their file.",
    "SearchNotFound": "Copy the searched lines exactly from the file.",
    "RegionDeleted": "The tests need it.",
}
KEPT = "Your edits are kept: answer with edits of the files as they are now."
TAKEN_BACK = "Your edits are taken back: answer with all edits, of the files as they were."


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """Returns what the newest attempt came to; one that gives up ends the search."""
    newest = attempts[-1]
    left_out = [sentence for note in newest.notes for sentence in note.fields.get("left_out", ())]
    fields = {"left_out": left_out} if left_out else {}
    if newest.error_class == CANNOT:
        return FeedbackNote(text="", stop=True, fields=fields)
    parts = [*left_out, await _result(problem, attempts, tools)]
    if newest.finding is None:
        parts.append(KEPT if base_of_turns(attempts).number == newest.number else TAKEN_BACK)
    return FeedbackNote(text="\n\n".join(parts), fields=fields)


async def _result(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> str:
    newest = attempts[-1]
    verdict = newest.verdict
    if newest.finding is not None:
        return rejection_sentence(newest.finding, ADVICE | IN_TURNS)
    if verdict.status is Status.TAMPERED:
        return f"That was not accepted as a fix: {verdict.reason}"
    failing = [case for case in verdict.cases if not case.passed]
    if failing:
        same = next((each for each in attempts[:-1] if failure_key(each) == failure_key(newest)), None)
        counted = f" {verdict.passed} of {verdict.total} pass." if verdict.total > 1 else ""
        if same is not None and same.error_class:
            return f"It fails exactly as {'before' if same.number == 0 else 'after an earlier answer'}.{counted}"
        reason = f" {verdict.reason}" if verdict.reason else ""
        return f"Still failing.{counted}{reason}\n{await _show(newest, failing, tools)}"
    if verdict.collateral:
        head = "The target passes. These tests passed before and fail with your edits:"
        return f"{head}\n{await _show(newest, verdict.collateral, tools)}"
    if newest.refused:
        return f"The target passes, but that was not accepted: {verdict.reason}"
    parts = []
    if red := [case for case in verdict.still_red if case in problem.siblings]:
        results = [CaseResult(id=case, outcome="failed") for case in red]
        parts.append(f"The target passes. These are still red:\n{await _show(newest, results, tools)}")
    if newest.blemishes:
        listed = "\n".join(f"- {blemish}" for blemish in newest.blemishes)
        parts.append(f"All tests pass. Before it is merged, clean this up:\n{listed}")
    return "\n\n".join(parts) or "The target passes."


async def _show(attempt: Attempt, failing: Sequence[CaseResult], tools: Tools) -> str:
    """The failing tests by name, and the first failures whole, as they are with this attempt's code."""
    wanted = [case.id for case in failing[:MOST_SHOWN]]
    execution = await tools.run(attempt, wanted, inspect=Inspection())
    inspected = inspected_failures(execution)
    rows = [summarize_case(case) for case in failing[:MOST_NAMED]]
    rows += [f"… {len(failing) - MOST_NAMED} more"] if len(failing) > MOST_NAMED else []
    names = fenced("\n".join(rows), "text") if len(failing) > 1 or not inspected else ""
    shown = []
    for number, case in enumerate(wanted):
        if case in inspected:
            text = render_failure(inspected[case], SHORT if number else FULL)
            shown.append(f"`{case}`:\n{fenced(text, 'text')}")
    return "\n".join(part for part in (names, *shown) if part)
