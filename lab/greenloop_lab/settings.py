"""Settings of the laboratory's parts; greenloop itself must not know them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from greenloop.project.settings import RoleSettings, setting


@dataclass(frozen=True, kw_only=True)
class RankerSettings(RoleSettings):
    """The model that orders candidates, and when it is asked."""

    section: ClassVar[str] = "ranker"

    model: str = setting(
        "",
        "Model that ranks several candidates if a test run takes longer than `ranker.after`; empty: no "
        "ranking, they run in the order in which they came.",
    )
    after: float = setting(
        10.0,
        "Seconds that one run of the target must take before `ranker.model` is asked; after the first "
        "candidate that passes, the others do not run.",
        least=0,
    )


@dataclass(frozen=True, kw_only=True)
class PlanningSettings:
    """Stages of planners, in addition to greenloop's own settings of the role."""

    section: ClassVar[str] = "planner"

    skip: list[str] = setting(
        [],
        "Stages that a planning preset leaves out, such as `simulation` (preset `codesim`), `divergence` (`lpw`) or "
        "`design` (`lifecycle`); lab/docs/parts.md lists them.",
    )
