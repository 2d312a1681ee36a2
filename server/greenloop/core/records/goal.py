"""Aims for code that passes its tests, and the goals of `greenloop improve`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


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


@dataclass(frozen=True, kw_only=True)
class Aim:
    """A requirement for code that passes its tests, which is to be changed nevertheless: its name, and its options."""

    requirement: str = "improve"
    options: Mapping[str, Any] = field(default_factory=dict)


def aim_for(goal: Goal | None, calls: str = "") -> Aim | None:
    """The aim to reach a goal; `calls` are those to measure, one in each line (empty: its tests)."""
    return None if goal is None else Aim(options={"goal": goal.value, "calls": calls})
