"""Prepares the problem of a run for storage: the attempts mean little without it.

It must not know where it is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from greenloop.core.compose import region_text
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region

MOST_CHARACTERS = 100_000  # of the suspects' code; the regions are always kept


@dataclass(frozen=True, kw_only=True)
class StoredProblem:
    """The instruction of the user, the goal of code that passes (else empty), and the code that may change.

    `names` are those of the regions; `code` is their text, `suspects` that of other functions, before any attempt.
    """

    instruction: str = ""
    goal: str = ""
    names: str = ""
    code: Mapping[Region, str] = field(default_factory=dict)
    suspects: Mapping[Region, str] = field(default_factory=dict)


def store_problem(problem: Problem, goal: str) -> StoredProblem:
    """Returns what is kept of a problem."""
    suspects: dict[Region, str] = {}
    room = MOST_CHARACTERS
    for region in problem.suspects:
        text = region_text(problem, region)
        room -= len(text)
        if room < 0:
            break
        suspects[region] = text
    return StoredProblem(
        instruction=problem.instruction,
        goal=goal,
        names=problem.names,
        code={region: region_text(problem, region) for region in problem.regions},
        suspects=suspects,
    )
