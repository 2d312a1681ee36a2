"""The harness over code that passes: what is faster and right counts, and what is only one of both does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.errors import UsageError
from greenloop.core.records.model import Reply, Usage
from greenloop_lab.bench import hidden_tests, plans
from greenloop_lab.bench.reporting.figures import compare_pairs, compute_figures
from greenloop_lab.bench.results import BROKEN
from greenloop_lab.bench.run import Experiment, run
from greenloop_lab.bench.tasks import Task

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

PLAN = Path(__file__).resolve().parents[2] / "benchmarks" / "ablations" / "improve.toml"
SLOW = '''\
def unique(items: list[int]) -> list[int]:
    """The items without repeats, in order."""
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen
'''
FAST = "def unique(items: list[int]) -> list[int]:\n    return list(dict.fromkeys(items))\n"
RENAMED = SLOW.replace("seen", "found")
SORTED = "def unique(items: list[int]) -> list[int]:\n    return sorted(set(items))\n"
TEST = """\
from shop import unique


def test_unique():
    assert unique(list(range(2500))) == list(range(2500))
"""


def make_task(solution: str, **more) -> Task:
    return Task(
        id="unique",
        kind="slow",
        target="shop.py::unique",
        files={"shop.py": SLOW, "test_shop.py": TEST},
        cases=["test_shop.py::test_unique", "test_inputs.py::test_1"],
        shown=["test_shop.py::test_unique"],
        judge=hidden_tests.comparing_files(SLOW, "shop", ["unique([3, 1, 3])"]),
        solution={"shop.py": solution},
        function="shop.py::unique",
        **more,
    )


@pytest.fixture
def experiment(tmp_path, monkeypatch, bare_python):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Experiment(
        tasks=[make_task(FAST)],
        arms=plans.check_arms([plans.parse_arm("improve:attempts=1")]),
        out=tmp_path / "out.jsonl",
        answers=tmp_path / "answers.jsonl",
        settings={"interpreter": str(bare_python), "sandbox.kind": "bubblewrap", "model": "oracle"},
        history=tmp_path / "history.sqlite3",
        goal="time",
    )


def quiet(_text):
    pass


async def test_the_known_faster_function_is_measured_and_counts(experiment):
    (done,) = await run(experiment, quiet)
    assert (done.run["right"], done.run["goal"], done.run["gain"]["goal"]) == (True, "time", "time"), done.run
    assert done.run["gain"]["high"] < 0.9
    assert done.attempts[0]["goal"].startswith("What calls it takes ")
    (figures,) = compute_figures([done], frozenset(BROKEN))
    assert (figures.gains.right, figures.gains.optimized) == (1, 1)
    assert figures.gains.mean > 2
    assert figures.gains.measuring > 1
    with pytest.raises(UsageError, match="with other settings"):
        await run(replace(experiment, goal="memory"), quiet)


async def test_what_is_faster_and_wrong_or_right_and_as_slow_does_not_count(experiment, tmp_path):
    (wrong,) = await run(replace(experiment, tasks=[make_task(SORTED)]), quiet)
    (same,) = await run(replace(experiment, tasks=[make_task(RENAMED)], out=tmp_path / "same.jsonl"), quiet)
    assert [row.attempts[1]["error_class"] for row in (wrong, same)] == ["Different", "NotFaster"]
    assert "differs from before" in wrong.attempts[1]["goal"]
    assert "less than 0.9 of it is asked for" in same.attempts[1]["goal"]
    assert "\n" not in same.attempts[1]["goal"]
    gains = [compute_figures([each], frozenset(BROKEN))[0].gains for each in (wrong, same)]
    assert [(each.right, each.optimized, each.speedups) for each in gains] == [(0, 0, (1.0,)), (1, 0, (1.0,))]


async def test_what_is_accepted_and_wrong_elsewhere_is_found_by_the_hidden_calls(experiment):
    # No input that is made up is as long as that.
    faulty = FAST.replace("return ", "return items if len(items) > 90_000 else ")
    task = replace(make_task(faulty), judge=hidden_tests.comparing_files(SLOW, "shop", ["unique([7] * 100_000)"]))
    (done,) = await run(replace(experiment, tasks=[task]), quiet)
    assert (done.run["shown_passed"], done.run["right"]) == (True, False)
    assert done.run["gain"]["ratio"] < 0.9
    (figures,) = compute_figures([done], frozenset(BROKEN))
    assert (figures.overfit, figures.gains.right, figures.gains.optimized, figures.gains.mean) == (1, 0, 0, 1.0)


async def test_calls_are_measured_in_place_of_the_tests(experiment):
    task = make_task(FAST, calls="unique(list(range(3000)) * 2)\n")
    task = replace(task, files={**task.files, "test_shop.py": TEST.replace("2500", "5")})
    (done,) = await run(replace(experiment, tasks=[task]), quiet)
    assert done.run["gain"]["before"] > 0.005, done.run


async def test_memory_is_measured_too(experiment):
    greedy = "def total(most: int) -> int:\n    return sum([i * i for i in range(most)])\n"
    task = Task(
        id="total",
        kind="greedy",
        target="shop.py::total",
        files={
            "shop.py": greedy,
            "test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total(8000) == 170634668000\n",
        },
        cases=["test_shop.py::test_total"],
        solution={"shop.py": greedy.replace("[", "").replace("]", "")},
        function="shop.py::total",
    )
    (done,) = await run(replace(experiment, goal="memory", tasks=[task]), quiet)
    assert (done.run["right"], done.run["gain"]["goal"]) == (True, "memory"), done.run
    assert done.run["gain"]["before"] > 100_000
    (figures,) = compute_figures([done], frozenset(BROKEN))
    assert (figures.gains.doubled, figures.gains.measuring) == (1, None)


class Model:
    """Says nothing of use, and keeps what it was asked."""

    name = "as told"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def complete(self, request, on_token):
        self.asked.append("\n".join(message.content for message in request.messages))
        return Reply(text=f"```python\n{RENAMED}```", usage=Usage(), model=self.name)

    def count_tokens(self, text):
        return len(text) // 4

    async def close(self):
        pass


async def test_the_arms_of_the_plan_differ_in_what_is_told_of_the_lines(experiment):
    model, plan = Model(), plans.read(PLAN)
    settings = {key: value for key, value in experiment.settings.items() if key != "model"} | {"attempts": 1}
    arms = [replace(arm, settings={}) for arm in plan.arms]
    done = await run(replace(experiment, arms=arms, settings=settings, model=model), quiet)
    assert [each.run["arm"] for each in done] == ["improve", "plain", "first answer, no profile"]
    assert ["Make it faster" in text for text in model.asked] == [True] * 3
    assert [": if item not in seen:" in text for text in model.asked] == [True, False, False]
    assert len(compare_pairs(done, frozenset(BROKEN))[0].ratios) == 1
