"""The goals of `greenloop improve`, as aims. It is light: an editor loads it for its list of actions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from greenloop.core.aims import COMMENT, Aim
from greenloop.core.python.stubs import remark_text


class Goal(StrEnum):
    """The goal of a run over passing code: less time, less memory, the limits of `spec.constraints`, a comment."""

    TIME = "time"
    MEMORY = "memory"
    LIMITS = "limits"
    COMMENT = COMMENT

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
AIMS = {
    goal.value: Aim(requirement="improve", words=goal.words, options={"goal": goal.value, "calls": ""}) for goal in Goal
}


def choose(code: str, options: Mapping[str, Any]) -> list[str]:
    """The goals that make sense for a function; a comment in it first."""
    comment = [Goal.COMMENT] if "#" in code and remark_text(code) else []
    limits = [Goal.LIMITS] if options.get("spec.constraints") else []
    return [*comment, Goal.TIME, Goal.MEMORY, *limits]
