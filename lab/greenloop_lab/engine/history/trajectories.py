"""A run as its steps, with what others need to learn from it; made from the history or from results of the harness.

It must not know in which format it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from greenloop.core.election import WITHOUT_MODEL
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Status

NO_MODEL = {move.value for move in WITHOUT_MODEL}


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message of a request, with its calls of tools as lines of text."""

    role: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """An attempt. `code` is what it changes, by region, and `added` its imports and helpers.

    `plan` is what it was to follow, `feedback` what was said of it to the next one. `time` is its measured share of
    what the user's code costs. `right` is what the judge of the harness says (None: it was not asked). `is_clean`: it
    compiles and uses no name that is not defined.
    """

    number: int
    parent: int | None = None
    move: str = ""
    role: str = ""
    model: str = ""
    temperature: float | None = None
    plan: str = ""
    templates: Mapping[str, str] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    answer: str = ""
    code: Mapping[Region, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    feedback: str = ""
    error_class: str = ""
    group: str = ""
    status: str = ""
    score: float = 0.0
    passed: int = 0
    total: int = 0
    time: float | None = None
    accepted: bool = False
    refused: bool = False
    right: bool | None = None
    is_clean: bool = False

    @property
    def by_model(self) -> bool:
        """Did a model answer?"""
        return bool(self.move) and self.move not in NO_MODEL

    @property
    def reward(self) -> float:
        """The score, and for code that passes the share of its cost that it saves: what attempts are ranked by."""
        return self.score + (max(1.0 - self.time, 0.0) if self.time is not None and self.score >= 1 else 0.0)

    @property
    def has_passed(self) -> bool:
        """Is there nothing against it, as far as it was tested?"""
        return self.status == Status.PASSED and not self.refused and self.right is not False

    @property
    def refused_by(self) -> str:
        """Returns who refused it: `judge`, `acceptance` (its own cases pass), `tests`; empty where nothing did."""
        if not self.code or self.has_passed:
            return ""
        if self.right is False and self.status == Status.PASSED and not self.refused:
            return "judge"
        return "acceptance" if self.refused or (self.score >= 1 and self.status != Status.REFUSED) else "tests"


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """A run. `root` is its workspace, which is never written; `code` and `suspects` are the user's texts by region.

    `task` is the id of the harness's task, whose target is a test in a folder of its own. `runs` runs of the same
    target ended, and `solved_runs` of them solved it.
    """

    id: str
    source: str
    root: str
    target: str
    model: str
    preset: str
    steps: tuple[Step, ...]
    task: str = ""
    instruction: str = ""
    goal: str = ""
    names: str = ""
    code: Mapping[Region, str] = field(default_factory=dict)
    suspects: Mapping[Region, str] = field(default_factory=dict)
    is_solved: bool = False
    is_verified: bool = False
    reason: str = ""
    runs: int = 0
    solved_runs: int = 0

    def step(self, number: int | None) -> Step | None:
        return next((step for step in self.steps if step.number == number), None)

    @property
    def needed(self) -> int | None:
        """The answers of models up to the accepted one; None where there is none, or it was wrong."""
        done = next((step.number for step in self.steps if step.accepted and step.right is not False), None)
        return None if done is None else sum(step.by_model and step.number <= done for step in self.steps)

    def own_code(self, region: Region) -> str:
        """The user's text of a region; empty where it is not known."""
        return self.code.get(region, self.suspects.get(region, ""))


def hard_negatives(run: Trajectory) -> list[Step]:
    """Lists steps that only looked right, best first: refused by judge or acceptance, or failing with most passed.

    Of those that failed their tests only the ones with the highest score, which must be above 0.
    """
    refused = [step for step in run.steps if step.number and step.refused_by]
    most = max((step.score for step in refused if step.refused_by == "tests"), default=0.0)
    hard = [step for step in refused if step.refused_by != "tests" or (step.score == most and most > 0)]
    return sorted(hard, key=lambda step: (step.refused_by == "tests", -step.score, step.number))
