"""One row for each attempt that another one of its run outranks: chosen and rejected, with scores and times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from greenloop_lab.engine.history.formats._row import Message, Row, column, head
from greenloop_lab.engine.history.trajectories import Step, Trajectory, hard_negatives
from greenloop_lab.engine.history.trajectory_texts import changed_regions, code_of, problem_of


@dataclass(frozen=True, kw_only=True)
class PairsRow(Row):
    """The best attempt of a run, and one with a lower reward. Both answer the same problem."""

    prompt: tuple[Message, ...] = column("the problem, with the user's code")
    chosen: str = column("the code of the best attempt")
    rejected: str = column("the code of the other")
    chosen_attempt: int = column("its number")
    rejected_attempt: int = column("its number")
    chosen_rank: int = column("always 1")
    rejected_rank: int = column("the place of its reward in the run; equal rewards share one")
    chosen_score: float = column("the share of the tests that passed")
    rejected_score: float = column("the share of the tests that passed")
    chosen_time: float | None = column("its share of the cost of the user's code; null: not measured")
    rejected_time: float | None = column("its share of the cost of the user's code; null: not measured")
    chosen_reward: float = column("its score, and what it saves of the cost")
    rejected_reward: float = column("the same of the other: always lower")
    refused_by: str = column("what refused the rejected one: tests, acceptance or judge; empty: it is only slower")
    is_hard: bool = column("the rejected one is a hard negative")


ROW = PairsRow
JUST_BELOW = 0.99  # the reward of a pass


def rows(run: Trajectory) -> Iterator[PairsRow]:
    candidates = [_with_time(step) for step in run.steps if step.code or (run.goal and run.code and not step.number)]
    # What acceptance or the judge refused is no example, whatever it scored.
    fit = [step for step in candidates if step.number and step.refused_by in ("", "tests")]
    best = max(fit, key=_order, default=None)
    if best is None:
        return
    hard = {step.number for step in hard_negatives(run)}
    rewards = sorted({_reward(step) for step in candidates}, reverse=True)
    for step in candidates:
        if _reward(step) < _reward(best):
            regions = changed_regions(best, step)
            yield PairsRow(
                **head(run, "pairs", step.error_class),
                prompt=(Message(role="user", content=problem_of(run)),),
                chosen=code_of(run, best, regions),
                rejected=code_of(run, step, regions),
                chosen_attempt=best.number,
                rejected_attempt=step.number,
                chosen_rank=1,
                rejected_rank=rewards.index(_reward(step)) + 1,
                chosen_score=best.score,
                rejected_score=step.score,
                chosen_time=best.time,
                rejected_time=step.time,
                chosen_reward=_reward(best),
                rejected_reward=_reward(step),
                refused_by=step.refused_by,
                is_hard=step.number in hard,
            )


def _reward(step: Step) -> float:
    """The reward; of what acceptance or the judge refused it is just below that of a pass."""
    reward = round(step.reward, 6)
    return min(reward, JUST_BELOW) if step.refused_by else reward


def _with_time(step: Step) -> Step:
    """The step; the user's own code, which a goal is measured against, costs what it costs."""
    return step if step.number else replace(step, time=1.0)


def _order(step: Step) -> tuple[float, bool, int]:
    return _reward(step), step.accepted, -step.number
