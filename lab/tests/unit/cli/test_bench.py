"""The command line of the harness; what runs in a sandbox is tested with one."""

from __future__ import annotations

import json

import pytest

from greenloop.cli.main import main
from greenloop_lab.bench import results

ROW = {
    "task_id": 1,
    "text": "Write a function to add.",
    "code": "def f(a, b):\n    return a + b",
    "test_setup_code": "",
    "test_list": ["assert f(1, 2) == 3", "assert f(2, 2) == 4"],
}


@pytest.fixture
def rows(project):
    (project / "mbpp.jsonl").write_text(json.dumps(ROW) + "\n")
    (project / "plan.toml").write_text('[arms.once]\npreset = "plain"\n[arms.twice]\npreset = "plain"\n')
    return project


def test_tasks_are_written_and_nothing_is_run(rows, capsys):
    assert main(["bench", "mbpp:mbpp.jsonl", "--write-tasks", "tasks.jsonl"]) == 0
    (task,) = map(json.loads, (rows / "tasks.jsonl").read_text().splitlines())
    assert task["id"] == "mbpp-1"
    out, err = capsys.readouterr()
    assert (out, err) == ("", "1 tasks in tasks.jsonl\n")
    assert not (rows / "bench.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["--arm", "plain"], ["plain"]),
        (["--plan", "plan.toml"], ["once", "twice"]),
        (["--plan", "plan.toml", "--arm", "twice"], ["twice"]),
        (["--goal", "time"], ["improve"]),
    ],
)
def test_the_arms_that_run(rows, monkeypatch, words, names):
    experiments = []

    async def run(experiment, _report_status):
        experiments.append(experiment)
        return []

    monkeypatch.setattr("greenloop_lab.cli.bench.run_experiment", run)
    assert main(["bench", "mbpp:mbpp.jsonl", *words]) == 0
    assert [arm.name for arm in experiments[0].arms] == names


def test_a_report_of_files(rows, capsys, tmp_path):
    results.append(
        rows / "a.jsonl",
        results.TaskRunResult(
            run={
                "kind": "run", "arm": "plain", "task": "mbpp-1", "repeat": 0, "right": True, "shown_passed": True,
                "reason": "solved", "attempts": 1, "candidates": 1, "at": 1, "best": 1, "calls": 1, "model": "m",
                "confidence": None, "prompt_tokens": 10, "completion_tokens": 5, "cached_tokens": 0,
                "model_seconds": 1.0, "test_seconds": 0.1, "wall_seconds": 1.2, "overhead_seconds": 0.1,
                "task_kind": "draft", "operators": [],
            }
        ),
    )  # fmt: skip
    assert main(["bench", "report", "a.jsonl", "--csv", "a.csv", "--html", "a.html", "--svg", "charts"]) == 0
    text = capsys.readouterr().out
    assert "1 (100 %)" in text
    assert (rows / "a.csv").read_text().startswith("arm,model,task-runs,solved,")
    assert "<h1>greenloop bench: plain</h1>" in (rows / "a.html").read_text()
    assert (rows / "charts" / "by-attempt.svg").is_file()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["report"], "No file of results was given."),
        (["report", "none.jsonl"], "none.jsonl cannot be read"),
        (["report", "mbpp.jsonl"], "Line 1 of mbpp.jsonl is not a result."),
        (["mbpp:mbpp.jsonl", "--arm", "plane"], "There is no preset named 'plane'."),
        (["mbpp:mbpp.jsonl", "--arm", "plain:x=1"], "Unknown setting 'x'"),
        (["mbpp:mbpp.jsonl", "--plan", "none.toml"], "none.toml cannot be read"),
        (["mbpp:mbpp.jsonl", "--plan", "plan.toml", "--arm", "plane"], "neither a preset nor an arm of the plan"),
        (["mbpp:mbpp.jsonl", "--repeats", "0"], "--repeats must be at least 1."),
        (["mbpp:mbpp.jsonl", "--sample", "-1"], "--sample must be at least 0"),
        (["mbpp:mbpp.jsonl", "--exclude", "none.jsonl"], "none.jsonl cannot be read"),
        (["mbpp:mbpp.jsonl", "--task", "mbpp-9"], "There is no task 'mbpp-9' among the 1 tasks."),
        (["mbpp:mbpp.jsonl", "--write-tasks", "no/where"], "no/where cannot be written"),
        (["none.jsonl"], "There is no none.jsonl."),
        (["mbpp.jsonl"], "Line 1 of mbpp.jsonl is not a task"),
    ],
)
def test_what_cannot_be_is_one_sentence(rows, capsys, words, why):
    assert main(["bench", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("greenloop: ")
    assert why in err
    assert "Traceback" not in err
