"""Describes what a model did in a run: its name and kind, the questions, its looks at the project, their tokens.

It must not know where this is shown: texts of models may still have control characters.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.election import WITHOUT_MODEL
from greenloop.core.records.attempt import Attempt, Look
from greenloop.core.records.model import NO_MODEL, ModelKind, Usage

RECORDED = ("scripted", "replay")  # models that are named with their file
LOOKS = 8  # of one attempt that are listed


def describe_model(name: str, kind: ModelKind | None = None) -> str:
    """`openai/gpt-5.1 (capable)`; a scripted or replayed model without its file, and no kind where it is not known."""
    if name == NO_MODEL:
        return "no model"
    word, colon, _file = name.partition(":")
    shown = word if colon and word in RECORDED else name
    return f"{shown} ({kind.value})" if kind else shown


def describe_asking(name: str, kind: ModelKind | None) -> str:
    """`asking openai/gpt-5.1 (capable)`, or the step of a run without a model."""
    return "trying changes that need no model" if name == NO_MODEL else f"asking {describe_model(name, kind)}"


def describe_tokens(usage: Usage) -> str:
    """`12,300 (9,800 cached)`: the tokens of prompts and answers, and those that the model did not read again."""
    return f"{usage.tokens:,}" + (f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else "")


def describe_questions(attempts: Sequence[Attempt]) -> str:
    """`1 question, 3 looks, 12,300 tokens (9,800 cached)`; empty where no model was asked."""
    questions = sum(each.draft is not None and each.draft.move not in WITHOUT_MODEL for each in attempts)
    looks = sum(len(each.looks) for each in attempts)
    usage = sum((each.spent for each in attempts), Usage())
    if not questions:
        return ""
    counts = [_count(questions, "question"), *([_count(looks, "look")] if looks else [])]
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return ", ".join([*counts, f"{usage.tokens:,} tokens{cached}"])


def list_looks(looks: Sequence[Look], most: int = LOOKS) -> list[str]:
    """A line for each of the first looks, and how many more there were."""
    rows = [look.summary for look in looks[:most]]
    return [*rows, f"… and {len(looks) - most} more"] if len(looks) > most else rows


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
