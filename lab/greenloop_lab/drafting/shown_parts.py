"""Renders attempts for a prompt by the tests that they pass, or by their differences from another one."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from greenloop.core.compose import region_text
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.drafting.prompt import answer_of, fenced

NAMED = 12  # cases that an attempt passes; more are counted


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
        parts += _new_rows(own.splitlines(), text.splitlines())
    return "\n...\n".join(part.strip("\n") for part in parts if part.strip())


def _has(candidate: Candidate, text: str) -> bool:
    return text in candidate.imports or text in candidate.helpers


def _new_rows(own: Sequence[str], other: Sequence[str]) -> list[str]:
    opcodes = SequenceMatcher(None, own, other, autojunk=False).get_opcodes()
    return ["\n".join(other[start:end]) for kind, _i, _j, start, end in opcodes if kind != "equal"]
