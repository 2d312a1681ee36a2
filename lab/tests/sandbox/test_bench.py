"""The harness in the real sandbox, with models that answer what the test says."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from greenloop.core.errors import GreenloopError, UsageError
from greenloop.core.records.model import Reply, Usage
from greenloop.project import configuration
from greenloop_lab.bench import mbpp, plans, results
from greenloop_lab.bench.hidden_tests import Judge
from greenloop_lab.bench.mutation import mutants, mutate_project
from greenloop_lab.bench.reporting.figures import compute_figures
from greenloop_lab.bench.results import BROKEN
from greenloop_lab.bench.run import Experiment, run

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

ROWS = [
    {
        "task_id": number,
        "text": f"Write a function to add {number} to the largest of two numbers.",
        "code": f"def f{number}(a, b):\r\n  if a > b:\r\n    return a + {number}\r\n  return b + {number}",
        "test_setup_code": "",
        "test_list": [f"assert f{number}({a}, {b}) == {max(a, b) + number}" for a, b in ((1, 2), (5, 3), (0, 0))],
    }
    for number in (1, 2, 3)
]
RIGHT = "def f{n}(a, b):\n    return max(a, b) + {n}"
FIRST_ONLY = "def f{n}(a, b):\n    return b + {n}"  # what the first test shows
WRONG = "def f{n}(a, b):\n    return {k}"


class Model:
    """Task n is answered by the n-th list of templates, one an attempt; counts what it was asked."""

    name = "as told"

    def __init__(self, *answers: list[str]) -> None:
        self.answers = answers
        self.asked = 0
        self.given: dict[int, int] = {}

    async def complete(self, request, on_token):
        self.asked += 1
        text = "\n".join(message.content for message in request.messages)
        number = next(n for n in (1, 2, 3) if f"def f{n}(" in text)
        k = self.given[number] = self.given.get(number, 0) + 1
        told = self.answers[number - 1]
        code = told[min(k, len(told)) - 1].format(n=number, k=-k)
        on_token(code)
        usage = Usage(prompt_tokens=100, completion_tokens=10, model_seconds=3.0)
        return Reply(text=f"```python\n{code}\n```", usage=usage, model=self.name)

    def count_tokens(self, text):
        return len(text) // 4

    async def close(self):
        pass


@pytest.fixture
def experiment(tmp_path, monkeypatch, bare_python):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Experiment(
        tasks=[mbpp.make_task(mbpp.parse(row)) for row in ROWS],
        arms=plans.check_arms([plans.parse_arm("plain")]),
        out=tmp_path / "out.jsonl",
        answers=tmp_path / "answers.jsonl",
        settings={"interpreter": str(bare_python), "sandbox.kind": "bubblewrap", "attempts": 3},
        history=tmp_path / "history.sqlite3",
    )


def quiet(_text):
    pass


@pytest.mark.story("bench judges by what was not shown")
async def test_a_run_is_judged_by_what_was_not_shown(experiment, tmp_path):
    model = Model([RIGHT], [FIRST_ONLY], [WRONG, WRONG, RIGHT])
    done = await run(replace(experiment, model=model), quiet)
    assert [(d.run["right"], d.run["shown_passed"], d.run["reason"], d.run["attempts"]) for d in done] == [
        (True, True, "solved", 1),
        (False, True, "solved", 1),
        (True, True, "solved", 3),
    ]
    assert (done[1].run["judge_passed"], done[1].run["judge_total"]) == (2, 3)
    rows = done[2].attempts
    assert [(row["number"], row["right"], row["error_class"]) for row in rows] == [
        (0, None, "NotImplementedError"),
        (1, False, "AssertionError"),
        (2, False, "AssertionError"),
        (3, True, ""),
    ]
    assert [row["move"] for row in rows] == ["", "draft", "refine", "refine"]
    assert (rows[1]["prompt_tokens"], rows[1]["model_seconds"], rows[1]["judge_total"]) == (100, 3.0, 3)
    assert (done[2].run["calls"], done[2].run["prompt_tokens"]) == (3, 300)
    (found,) = compute_figures(done, frozenset(BROKEN))
    assert (found.solved, found.first_right, found.overfit, found.curve) == (2, 1, 1, (0, 1, 1, 2))
    assert compute_figures(results.read([experiment.out]), frozenset(BROKEN)) == [found]
    assert not (tmp_path / "state" / "greenloop" / "history.sqlite3").exists()


@pytest.mark.story("bench goes on where it was")
async def test_a_killed_run_goes_on_where_it_was(experiment):
    model = Model([RIGHT], [WRONG], [RIGHT])
    whole = await run(replace(experiment, model=model), quiet)
    text = experiment.out.read_bytes()
    rows = text.split(b"\n")
    experiment.out.write_bytes(b"\n".join(rows[:-2]) + b"\n" + rows[-2][:40])
    again = Model([WRONG], [WRONG], [WRONG])
    done = await run(replace(experiment, model=again), quiet)
    assert [d.key for d in done] == [d.key for d in whole]
    assert [d.run["right"] for d in done] == [True, False, True]
    assert again.asked == 0  # the answer was recorded, only the task-run was not


async def test_several_tasks_at_once_have_the_same_results(experiment):
    """Each request is answered when all three tasks have asked, so it ends only if they run at once."""

    all_have_asked = asyncio.Barrier(len(ROWS))

    class Waiting(Model):
        async def complete(self, request, on_token):
            await all_have_asked.wait()
            return await super().complete(request, on_token)

    model = Waiting([RIGHT], [RIGHT], [RIGHT])
    done = await run(replace(experiment, model=model, jobs=3), str)
    assert sorted((each.run["task"], each.run["right"]) for each in done) == [(f"mbpp-{n}", True) for n in (1, 2, 3)]
    assert len(results.read([experiment.out])) == 3


async def test_a_mistake_in_a_part_costs_one_task_run(experiment, monkeypatch):
    def plan(_problem, _attempts):
        raise KeyError("x")

    monkeypatch.setattr("greenloop_lab.drafting.search.patient.plan", plan)
    both = plans.check_arms([plans.parse_arm("plain:search=patient"), plans.parse_arm("plain")])
    experiment = replace(experiment, arms=both, tasks=experiment.tasks[:2], model=Model([RIGHT], [RIGHT]))
    done = await run(experiment, quiet)
    found = {f.arm: f for f in compute_figures(done, frozenset(BROKEN))}
    assert (found["plain"].solved, found["plain:search=patient"].broken) == (2, 2)
    assert "KeyError: 'x' (test_bench.py:" in done[0].run["message"]
    every = [mbpp.make_task(mbpp.parse(row)) for row in ROWS]
    alone = replace(experiment, arms=both[:1], tasks=every, out=experiment.out.with_name("alone.jsonl"))
    with pytest.raises(GreenloopError, match=r"3 tasks in a row gave no result \(mbpp-1, mbpp-2, mbpp-3\)"):
        await run(alone, quiet)
    monkeypatch.undo()


async def test_arms_that_ask_the_same_share_the_answer_and_are_billed_alike(experiment):
    model = Model([RIGHT], [RIGHT], [RIGHT])
    both = plans.check_arms([plans.parse_arm("plain"), plans.parse_arm("plain:attempts=2")])
    done = await run(replace(experiment, arms=both, model=model), quiet)
    assert model.asked == 3
    one, other = compute_figures(done, frozenset(BROKEN))
    assert (one.solved, one.mean_tokens, one.means["model_seconds"]) == (3, 110.0, 3.0)
    assert (other.solved, other.mean_tokens, other.means["model_seconds"]) == (3, 110.0, 3.0)
    for each in done:
        assert each.run["wall_seconds"] >= 3.0 or not each.run["hits"]


async def test_arms_that_write_the_same_share_the_judge(experiment, monkeypatch):
    judged = []
    run_judge = Judge._run

    async def count(self, session, texts):
        judged.append(self.task.id)
        return await run_judge(self, session, texts)

    monkeypatch.setattr(Judge, "_run", count)
    # The tests of the last arm have less time, so it has a judge of its own.
    arms = plans.check_arms([plans.parse_arm(f"plain{more}") for more in ("", ":attempts=2", ":sandbox.seconds=9")])
    model = Model([RIGHT], [RIGHT], [RIGHT])
    done = await run(replace(experiment, tasks=experiment.tasks[:1], arms=arms, model=model), quiet)
    assert [each.run["right"] for each in done] == [True] * 3
    assert judged == ["mbpp-1"] * 2


async def test_a_candidate_that_hangs_on_the_hidden_tests_is_wrong_and_a_line_says_so(experiment):
    hangs = "def f{n}(a, b):\n    while a > b:\n        pass\n    return b + {n}"
    settings = {**experiment.settings, "sandbox.seconds": 1, "suite.seconds": 1}
    arms = plans.check_arms([plans.parse_arm("plain"), plans.parse_arm("plain:attempts=2")])
    lines = []
    model = Model([hangs], [hangs], [hangs])
    experiment = replace(experiment, tasks=experiment.tasks[:1], arms=arms, model=model, settings=settings)
    done = await run(experiment, lines.append)
    assert [(each.run["right"], each.run["reason"]) for each in done] == [(False, "solved")] * 2
    line = "mbpp-1: the hidden tests took longer than 4 s; this candidate counts as wrong"
    assert [each for each in lines if "hidden tests" in each] == [line]


async def test_best_of_n_gets_as_many_calls_as_the_arm_that_it_matches(experiment):
    # The other arm makes 1, 8 and 8 calls, six in the mean; best-of-n ends the first task early: the others get more.
    class Sampled(Model):
        async def complete(self, request, on_token):
            if request.temperature:
                self.given.clear()  # a sample is what the first answer is
            return await super().complete(request, on_token)

    both = plans.check_arms([plans.parse_arm("plain:search=best_of_n,match=plain"), plans.parse_arm("plain")])
    model = Sampled([RIGHT], [WRONG], [WRONG])
    settings = {**experiment.settings, "attempts": 8}
    experiment = replace(experiment, arms=both, model=model, settings=settings)
    done = await run(experiment, quiet)
    own, other = compute_figures(done, frozenset(BROKEN))
    assert (own.arm, other.arm) == ("plain", "plain:search=best_of_n,match=plain")
    assert abs(own.means["calls"] - other.means["calls"]) < 0.05 * own.means["calls"]
    assert own.means["calls"] == 17 / 3
    assert max(d.run["settings"]["attempts"] for d in done if d.run["arm"] == other.arm) > round(17 / 3)
    asked = model.asked
    again = await run(experiment, quiet)
    assert (compute_figures(again, frozenset(BROKEN)), model.asked) == ([own, other], asked)


async def test_an_arm_may_have_parts_of_its_own(experiment):
    model = Model([WRONG, WRONG, RIGHT], [RIGHT], [RIGHT])
    both = plans.check_arms([plans.parse_arm("plain"), plans.parse_arm("plain:search=best_of_n,feedback=cases+docs")])
    done = await run(replace(experiment, tasks=experiment.tasks[:1], arms=both, model=model), quiet)
    moves = {d.run["arm"]: [row["move"] for row in d.attempts[1:]] for d in done}
    assert moves["plain"] == ["draft", "refine", "refine"]
    assert set(moves["plain:search=best_of_n,feedback=cases+docs"]) == {"draft"}


async def test_other_settings_under_the_same_name_are_refused(experiment):
    model = Model([RIGHT], [RIGHT], [RIGHT])
    await run(replace(experiment, model=model), quiet)
    with pytest.raises(UsageError, match="the arm 'plain' with other settings"):
        await run(replace(experiment, model=model, settings={**experiment.settings, "attempts": 4}), quiet)
    changed = [replace(task, origin="elsewhere") for task in experiment.tasks]
    with pytest.raises(UsageError, match="another task of the name 'mbpp-1'"):
        await run(replace(experiment, model=model, tasks=changed), quiet)


async def test_the_model_that_knows_solves_every_task(experiment, bare_python):
    table = {**experiment.settings, "model": "reference"}
    made = await mutants.from_rows(
        [mbpp.parse(row) for row in ROWS],
        plans.settings_for(table, None),
        mutate_project.MutantRequest(
            count=2,
            breadth=1,
            seed=7,
            is_excluded=lambda family: family == "mutant-mbpp-2-",
            report_status=quiet,
        ),
    )
    assert len(made) == 2
    assert "mbpp 2" not in {task.origin for task in made}
    for task in made:
        assert len(task.shown) == 2
        assert any(case.startswith("test_inputs.py") for case in task.cases)
        assert mutate_project.count_changed_lines(task.solution["solution.py"], task.files["solution.py"]) == 1
    done = await run(replace(experiment, tasks=[*experiment.tasks, *made], settings=table), quiet)
    assert [d.run["right"] for d in done] == [True] * 5
    # A mutant fails before the run, by a test that is shown.
    assert all(d.attempts[0]["status"] == "failed" for d in done)
    lines = experiment.out.read_text().splitlines()
    assert all(json.loads(line)["format"] == results.FORMAT for line in lines)


NODE = "class Node:\n  def __init__(self, data):\n    self.data = data\n    self.left = None\n\n"
ODD_ROWS = [
    {
        "task_id": 798,
        "text": "Write a python function to find the sum of an array.",
        "code": "def _sum(arr):\n  sum=0\n  for i in arr:\n    sum = sum + i\n  return(sum)",
        "test_setup_code": "",
        "test_list": ["assert _sum([1, 2, 3]) == 6", "assert _sum([15, 12]) == 27"],
    },
    {
        "task_id": 927,
        "text": "Write a function to calculate the height of the given tree.",
        "code": NODE + "def height(node):\n  if node is None:\n    return 0\n  return 1 + height(node.left)",
        "test_setup_code": "root = Node(1)\nroot.left = Node(2)\nroot1 = Node(1);",
        "test_list": ["assert (height(root)) == 2", "assert (height(root1)) == 1 "],
    },
]


@pytest.mark.parametrize("shown", [1, 2])
async def test_private_names_and_names_of_the_set_up_code_can_be_used(experiment, shown):
    odd = [mbpp.make_task(mbpp.parse(row), shown=shown) for row in ODD_ROWS]
    settings = {**experiment.settings, "model": "reference"}
    done = await run(replace(experiment, tasks=odd, settings=settings), quiet)
    assert [(each.run["right"], each.run["judge_passed"]) for each in done] == [(True, 2), (True, 2)]
    assert [each.attempts[0]["error_class"] for each in done] == ["NotImplementedError"] * 2


async def test_both_lines_of_a_mutant_matter(bare_python, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found, _warnings = configuration.load(
        None, command_line={"interpreter": str(bare_python), "sandbox.kind": "bubblewrap"}
    )
    (task,) = await mutants.from_rows(
        [mbpp.parse(ROWS[0])],
        found,
        mutate_project.MutantRequest(
            count=1, breadth=2, seed=7, shown=2, is_excluded=lambda _: False, report_status=quiet
        ),
    )
    assert len(task.operators) == 2
    assert mutate_project.count_changed_lines(task.solution["solution.py"], task.files["solution.py"]) == 2
