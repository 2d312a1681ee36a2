"""Tasks, a scored experiment without a sandbox, and a model that rewrites as told."""

from __future__ import annotations

import pytest

from greenloop.core.records.model import Reply, Usage
from greenloop_lab.bench.results import TaskRunResult
from greenloop_lab.bench.run import Experiment
from greenloop_lab.bench.tasks import Task
from greenloop_lab.bench.tuning import trials


def tasks_of(count: int, kind: str = "draft") -> list[Task]:
    return [Task(id=f"{kind}-{n:02}", kind=kind, target="t", files={"m.py": ""}, cases=("c",)) for n in range(count)]


class Writer:
    """Answers each question with the next text between the marks, the last one again and again."""

    name = "writer"

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.requests = []

    async def complete(self, request, on_token):
        self.requests.append(request)
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        return Reply(text=f"Here it is:\n<template>\n{text}\n</template>", usage=Usage(), model=self.name)


@pytest.fixture
def writer():
    return Writer


@pytest.fixture
def make_tasks():
    return tasks_of


@pytest.fixture
def make_trials(tmp_path, make, monkeypatch):
    """Trials in which `right(arm, task)` says what is solved; `asked` has what was run."""
    asked: list[tuple[str, str]] = []

    def made(tasks, right) -> trials.Trials:
        async def run(experiment, _report_status) -> list[TaskRunResult]:
            done = []
            for task in experiment.tasks:
                for arm in experiment.arms:
                    asked.append((arm.name, task.id))
                    ok = right(arm, task)
                    done.append(make(arm.name, task.id, ("", True) if ok else ("AssertionError", False)))
            return done

        monkeypatch.setattr(trials, "run", run)
        experiment = Experiment(tasks=tasks, arms=(), out=tmp_path / "out", answers=tmp_path / "answers")
        found = trials.Trials(
            experiment=experiment, halves=trials.split_tasks(tasks, 7), report_status=lambda _text: None
        )
        found.asked = asked
        return found

    return made
