"""The order of the task-runs, and when those without a result end an experiment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from greenloop.core.errors import GreenloopError
from greenloop_lab.bench import plans, results
from greenloop_lab.bench.results import TaskRunResult
from greenloop_lab.bench.run import Experiment, run
from greenloop_lab.bench.tasks import Task


@dataclass
class Machines:
    """A cluster without machines: every task-run ends at once, those of `broken` (arm and task) without a result."""

    broken: set[tuple[str, str]]
    ran: list[tuple[str, str]] = field(default_factory=list)

    async def run_tasks(self, work, conditions, recordings, receive):
        for runs in work:
            for arm, task, repeat in runs:
                self.ran.append((arm.name, task.id))
                has_broken = (arm.name, task.id) in self.broken
                end = {"reason": "error", "message": "no server"} if has_broken else {"reason": "attempts"}
                about = {"arm": arm.name, "task": task.id, "repeat": repeat, "digest": task.digest, "calls": 1}
                receive(
                    TaskRunResult(
                        run={**results.empty_fields(), "wall_seconds": 0.0, "kind": "run", **about}
                        | conditions.arm_fields(arm)
                        | end
                    ),
                    "",
                )

    def close(self):
        pass


ARMS = plans.check_arms([plans.parse_arm(text) for text in ("plain", "plain:attempts=2", "plain:attempts=3")])
NAMES = [arm.name for arm in ARMS]


def every(*tasks):
    return {(arm, task) for arm in NAMES for task in tasks}


@pytest.fixture
def experiment(tmp_path):
    ids = ("a", "b", "c", "d", "e")
    tasks = [Task(id=name, kind="draft", target="test_m.py", files={}, cases=["test_m.py::test_it"]) for name in ids]
    return Experiment(tasks=tasks, arms=ARMS, out=tmp_path / "out.jsonl", answers=tmp_path / "answers.jsonl")


async def run_on(machines, experiment):
    return await run(replace(experiment, cluster=machines), lambda _text: None)


@pytest.mark.parametrize("broken", [every("a"), every("b", "c"), every("a", "b", "d", "e")])
async def test_all_arms_of_a_task_without_a_result_count_once(experiment, broken):
    done = await run_on(Machines(broken), experiment)
    assert len(done) == 15
    assert {(each.run["arm"], each.run["task"]) for each in done if each.run["reason"] == "error"} == broken


async def test_an_arm_that_has_no_result_does_not_end_the_others(experiment):
    assert len(await run_on(Machines({(NAMES[1], task) for task in "abcde"}), experiment)) == 15


async def test_three_tasks_in_a_row_without_a_result_are_named(experiment):
    machines = Machines(every("b", "c", "d"))
    with pytest.raises(GreenloopError, match=r"3 tasks in a row gave no result \(b, c, d\); the last: no server"):
        await run_on(machines, experiment)
    assert machines.ran[-1] == (NAMES[0], "d")


async def test_the_same_command_runs_the_other_tasks_first_and_ends(experiment):
    hopeless = every("a", "b", "c")
    with pytest.raises(GreenloopError):
        await run_on(Machines(hopeless), experiment)
    again = Machines(hopeless)
    assert len(await run_on(again, experiment)) == 15
    tasks = [task for _arm, task in again.ran]
    assert tasks == ["d"] * 3 + ["e"] * 3 + ["a"] * 3 + ["b"] * 3 + ["c"] * 3
