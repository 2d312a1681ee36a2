"""What parts with a critic share: when to ask, what is kept of the answer."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.nouns import Attempt, Note, Reply
from greenloop.feedback._values import short

WORDS = 1200  # characters kept of what the critic says


def worth_asking(attempts: Sequence[Attempt]) -> bool:
    """Is there a model's code that ran? The user's own code and refused answers are described without a model."""
    newest = attempts[-1]
    return newest.number > 0 and newest.candidate is not None and newest.finding is None


def words(reply: Reply) -> str:
    """What the critic said, as one bounded paragraph without fences."""
    rows = [row for row in reply.text[: 8 * WORDS].split("\n") if not row.lstrip().startswith("```")]
    return short(" ".join(rows), WORDS)


def with_failures(failures: str, title: str, said: str, reply: Reply) -> Note:
    """The failures and, below them, the critic's explanation, which is also what users are shown."""
    text = f"{failures}\n\n{title}: {said}" if said else failures
    return Note(text=text, fields={"explanation": said} if said else {}, usage=reply.usage)
