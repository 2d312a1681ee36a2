"""What refused an attempt, and what it is worth."""

from __future__ import annotations

import pytest

from greenloop.core.records.spec import Region
from greenloop_lab.engine.history.trajectories import Step, Trajectory, hard_negatives

CODE = {Region(path="m.py", qualname="f", start=1, end=1): "def f(): ..."}


def step(number: int = 1, **values) -> Step:
    return Step(**{"number": number, "parent": 0, "move": "draft", "code": CODE, "status": "failed", **values})


@pytest.mark.parametrize(
    ("values", "by"),
    [
        ({"status": "failed", "score": 0.5}, "tests"),
        ({"status": "passed", "score": 1.0}, ""),
        ({"status": "passed", "score": 1.0, "right": True}, ""),
        ({"status": "passed", "score": 1.0, "right": False}, "judge"),
        ({"status": "passed", "score": 1.0, "right": False, "accepted": True}, "judge"),
        ({"status": "failed", "score": 1.0}, "acceptance"),
        ({"status": "tampered", "score": 1.0, "refused": True}, "acceptance"),
        ({"status": "timeout", "score": 0.0, "refused": True, "right": False}, "acceptance"),
        ({"status": "refused"}, "tests"),
        ({"code": {}}, ""),
    ],
)
def test_what_refused_an_attempt(values, by):
    assert step(**values).refused_by == by


@pytest.mark.parametrize(
    ("values", "reward"),
    [
        ({"score": 0.5}, 0.5),
        ({"score": 1.0}, 1.0),
        ({"score": 1.0, "time": 0.25}, 1.75),
        ({"score": 1.0, "time": 1.5}, 1.0),
        ({"score": 0.5, "time": 0.25}, 0.5),
    ],
)
def test_what_an_attempt_is_worth(values, reward):
    assert step(**values).reward == reward


def run(*steps: Step) -> Trajectory:
    return Trajectory(id="1", source="history", root="/w", target="t", model="m", preset="p", steps=steps)


def test_only_answers_of_models_are_needed():
    steps = (Step(number=0), step(1, move="mutate"), step(2), step(3, move="infill"), step(4, accepted=True))
    assert (run(*steps).needed, run(*steps[:-1]).needed) == (3, None)


def test_the_judges_refusals_come_first_and_then_what_failed_with_most_passed():
    passed = {"status": "passed", "score": 1.0}
    steps = (
        step(1, score=0.5),
        step(2, score=0.2),
        step(3, score=0.5),
        step(4, right=False, **passed),
        step(5, **passed),
    )
    assert [each.number for each in hard_negatives(run(*steps))] == [4, 1, 3]
