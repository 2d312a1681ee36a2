"""Goals for code that passes its tests."""

from __future__ import annotations

from enum import StrEnum


class Goal(StrEnum):
    """The goal of a run over passing code: less time, less memory, the limits of `spec.constraints`, a comment."""

    TIME = "time"
    MEMORY = "memory"
    LIMITS = "limits"
    COMMENT = "comment"

    @property
    def words(self) -> str:
        """The goal in words for people: `faster`."""
        return _WORDS[self]


_WORDS = {
    Goal.TIME: "faster",
    Goal.MEMORY: "less memory",
    Goal.LIMITS: "simpler",
    Goal.COMMENT: "as the comment says",
}
