"""Renders attempts for a prompt: their code, below the number of tests that they pass."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.compose import region_text
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region


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
