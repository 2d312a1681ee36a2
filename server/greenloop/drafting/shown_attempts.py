"""Renders attempts for a prompt: their code, what they pass, and where they differ from another one."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.compose import region_text
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.drafting.candidates.changes.exchange import find_differing_lines

NAMED = 12  # cases that an attempt passes; more are counted


def answer_of(problem: Problem, attempt: Attempt, without: Sequence[Region] = ()) -> str:
    """The attempt's code as a fenced block, without the prose around it and these regions; an unreadable answer
    unchanged.
    """
    if attempt.candidate is None:
        return attempt.answer or fenced("\n".join(region_text(problem, region) for region in problem.regions))
    pieces = [*attempt.candidate.imports, *attempt.candidate.helpers]
    texts = attempt.candidate.texts
    shown = sorted({*texts} - {*without}, key=lambda region: (region.path, region.start))
    pieces += [texts[region].strip("\n") for region in shown]
    return fenced("\n\n".join(pieces))


def fenced(text: str, language: str = "python") -> str:
    """The text in a Markdown fence that is longer than any run of backticks in it."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def render_attempts(problem: Problem, attempts: Sequence[Attempt], without: Sequence[Region] = ()) -> str:
    """The attempts' code, each below the number of tests that it passed; `without` regions that are to be written."""
    return "\n\n".join(
        f"{attempt.verdict.passed} of {attempt.verdict.total} tests passed:\n{answer_of(problem, attempt, without)}"
        for attempt in attempts
    )


def name_passed(attempt: Attempt) -> str:
    """The names of the tests that an attempt passes, in a row; "no test" where there are none."""
    names = [case.id.rpartition("::")[2] for case in attempt.verdict.cases if case.passed]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(f"`{name}`" for name in names[:NAMED]) + more if names else "no test"


def render_complements(problem: Problem, attempts: Sequence[Attempt]) -> str:
    """The attempts' code, each below the names of the tests that it passes."""
    return "\n\n".join(f"This passes {name_passed(attempt)}:\n{answer_of(problem, attempt)}" for attempt in attempts)


def render_ideas(problem: Problem, anchor: Attempt, attempts: Sequence[Attempt]) -> str:
    """Of each attempt only what the anchor does not have, below the names of the tests that it passes."""
    ideas = [(attempt, _own_parts(problem, anchor, attempt)) for attempt in attempts]
    return "\n\n".join(
        f"Another answer, which passes {name_passed(attempt)}, has:\n{fenced(parts)}"
        for attempt, parts in ideas
        if parts
    )


def _own_parts(problem: Problem, anchor: Attempt, attempt: Attempt) -> str:
    """The lines of an attempt that the anchor does not have, with dots for those between them."""
    if attempt.candidate is None:
        return ""
    base = anchor.candidate or Candidate(texts={})
    parts = [text for text in (*attempt.candidate.imports, *attempt.candidate.helpers) if not _has(base, text)]
    for region, text in attempt.candidate.texts.items():
        own = base.texts.get(region, "" if region.created else region_text(problem, region))
        parts += find_differing_lines(own, text)
    return "\n...\n".join(part.strip("\n") for part in parts if part.strip())


def _has(candidate: Candidate, text: str) -> bool:
    return text in candidate.imports or text in candidate.helpers
