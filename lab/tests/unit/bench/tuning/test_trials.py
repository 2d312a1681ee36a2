"""Halves of tasks, and what the second one confirms."""

from __future__ import annotations

import pytest

from greenloop.core.errors import UsageError
from greenloop_lab.bench.reporting.figures import Pair
from greenloop_lab.bench.tuning import trials


def pair(only_one: int, only_other: int, count: int = 30) -> Pair:
    return Pair(one="now", other="new", count=count, only_one=only_one, only_other=only_other)


def test_halves_share_no_task_and_have_all_kinds_alike(make_tasks):
    tasks = [*make_tasks(10, "a"), *make_tasks(7, "b")]
    halves = trials.split_tasks(tasks, 7)
    first, second = ({task.id for task in half} for half in (halves.search, halves.confirm))
    assert not first & second
    assert first | second == {task.id for task in tasks}
    assert [sum(task.kind == "a" for task in half) for half in (halves.search, halves.confirm)] == [5, 5]
    assert trials.split_tasks(tasks, 7) == halves
    assert trials.split_tasks(tasks, 8) != halves


def test_too_few_tasks_are_told_before_anything_is_run(make_tasks):
    assert trials.FEWEST == 6  # 2 / 2 ** 6 < 0.05
    trials.split_tasks(make_tasks(12), 7)
    with pytest.raises(UsageError, match="11 tasks cannot show that anything is better"):
        trials.split_tasks(make_tasks(11), 7)


@pytest.mark.parametrize(
    ("only_one", "only_other", "is_better"),
    [(0, 6, True), (0, 5, False), (6, 0, False), (2, 11, True), (3, 10, False), (0, 0, False)],
)
def test_what_is_believed(only_one, only_other, is_better):
    assert trials.is_better(pair(only_one, only_other)) is is_better


async def test_an_arm_is_scored_on_its_half_alone_and_once(make_trials, make_tasks):
    from greenloop_lab.bench import plans

    tasks = make_tasks(20)
    found = make_trials(tasks, lambda arm, task: arm.name == "default" or task.id > "draft-10")
    arms = [plans.parse_arm("plain"), plans.parse_arm("default")]
    searched = {task.id for task in found.halves.search}
    assert await found.search(arms[0]) == sum(task > "draft-10" for task in searched)
    await found.search(arms[0])
    assert sorted(found.asked) == sorted(("plain", task) for task in searched)
    assert {each.run["task"] for each in await found.failures(arms[0])} == {t for t in searched if t <= "draft-10"}
    found.asked.clear()
    pair = await found.confirm(*arms)
    assert {task for _arm, task in found.asked} == {task.id for task in found.halves.confirm}
    assert (pair.count, pair.only_one) == (10, 0)
    assert pair.only_other == sum(task.id <= "draft-10" for task in found.halves.confirm)


async def test_a_task_run_without_a_result_is_tried_once_more(make_trials, make_tasks, make, monkeypatch):
    from greenloop_lab.bench import plans

    found = make_trials(make_tasks(12), lambda _arm, _task: True)
    runs: list[int] = []

    async def run(experiment, _report_status):
        runs.append(1)
        broken = {"reason": "model"} if len(runs) == 1 else {}
        return [make("plain", task.id, ("", not broken), **broken) for task in experiment.tasks]

    monkeypatch.setattr(trials, "run", run)
    assert await found.search(plans.parse_arm("plain")) == 6
    assert len(runs) == 2
