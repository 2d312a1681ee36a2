"""Shared by parts with a critic: when to ask it, and what to keep of its answer."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Reply
from greenloop.drafting.feedback._value_diff import shorten

WORDS = 1200  # characters kept of the critic's answer


def worth_asking(attempts: Sequence[Attempt]) -> bool:
    """Did code of the model run? The user's own code and refused answers are described without a critic."""
    newest = attempts[-1]
    return newest.number > 0 and newest.candidate is not None and newest.finding is None


def as_paragraph(reply: Reply) -> str:
    """The critic's answer as one bounded paragraph without fences."""
    rows = [row for row in reply.text[: 8 * WORDS].split("\n") if not row.lstrip().startswith("```")]
    return shorten(" ".join(rows), WORDS)


def with_failures(failures: str, title: str, explanation: str, reply: Reply) -> FeedbackNote:
    """The failures and, below them, the critic's explanation, which users are shown as well."""
    text = f"{failures}\n\n{title}: {explanation}" if explanation else failures
    return FeedbackNote(text=text, fields={"explanation": explanation} if explanation else {}, usage=reply.usage)
