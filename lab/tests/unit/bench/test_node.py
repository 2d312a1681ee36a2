"""A node hands over what happens while it happens, and says why it cannot run a task."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from greenloop.core.errors import CannotVerifyError, GreenloopError, UsageError
from greenloop.core.records.model import Reply, Usage
from greenloop.plugins.embedded import weights
from greenloop_lab.bench import node, plans
from greenloop_lab.bench.measure import Conditions, Measurement
from greenloop_lab.bench.tasks import Task

ARM = plans.parse_arm("plain")
TASK = Task(id="t", kind="draft", target="test_m.py", files={}, cases=["test_m.py::test_it"])
REPLY = Reply(text="x", usage=Usage(), model="m")


def serve(order):
    return [pickle.loads(item) for item in node.serve(pickle.dumps(order))]


@pytest.fixture
def order():
    return node.Order(conditions=Conditions(), runs=[(ARM, TASK, 0), (ARM, TASK, 1)], replies={"old": REPLY})


def measuring(monkeypatch, behaviour):
    monkeypatch.setattr(Measurement, "run_task", lambda _self, runs, answers: behaviour(runs, answers))


def test_results_and_new_answers_are_handed_over_in_order(order, make, monkeypatch):
    async def run_task(runs, answers):
        for _arm, task, repeat in runs:
            if answers.get("old") == REPLY and answers.get(f"new {repeat}") is None:
                answers.put(f"new {repeat}", REPLY)
            yield make("plain", task.id, repeat=repeat)

    measuring(monkeypatch, run_task)
    first, second = make("plain", "t", repeat=0), make("plain", "t", repeat=1)
    assert serve(order) == [
        node.Answer(key="new 0", reply=REPLY),
        first,
        node.Answer(key="new 1", reply=REPLY),
        second,
    ]


def test_a_line_for_people_is_handed_over(order, make, monkeypatch):
    async def run_task(measurement, runs, _answers):
        measurement.report_status("it takes long")
        yield make("plain", runs[0][1].id)

    monkeypatch.setattr(Measurement, "run_task", run_task)
    assert serve(order) == [node.Note(text="it takes long"), make("plain", "t")]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UsageError("a", remedy="b"), UsageError),
        (CannotVerifyError("a", remedy="b"), CannotVerifyError),
        (GreenloopError("a", remedy="b"), GreenloopError),
    ],
)
def test_an_error_becomes_a_refusal_of_its_kind(order, monkeypatch, error, kind):
    async def run_task(_runs, _answers):
        raise error
        yield

    measuring(monkeypatch, run_task)
    (refusal,) = serve(order)
    again = refusal.error()
    assert (type(again), str(again), again.remedy) == (kind, "a", "b")


def test_a_folder_that_the_node_lacks(order, tmp_path):
    runs = [(ARM, replace(TASK, folder=str(tmp_path / "gone")), 0)]
    (refusal,) = serve(replace(order, runs=runs))
    assert f"no folder {tmp_path / 'gone'}" in refusal.sentence
    assert "Share the folder" in refusal.remedy


@pytest.mark.parametrize(
    ("is_here", "arm", "pulled"),
    [
        (False, "plain:model=local", ["qwen2.5-coder-1.5b"]),
        (
            False,
            "plain:model=local,refiner.model=local/qwen2.5-coder-3b",
            ["qwen2.5-coder-1.5b", "qwen2.5-coder-3b"],
        ),
        (False, "plain:model=openai/x", []),
        (True, "plain:model=local", []),
    ],
)
def test_weights_that_a_node_lacks_are_fetched_before_the_task(order, make, monkeypatch, is_here, arm, pulled):
    events = []

    async def run_task(runs, _answers):
        events.append("run")
        yield make(runs[0][0].name, "t")

    async def pull(_progress, *, model):
        events.append(model.name)

    measuring(monkeypatch, run_task)
    monkeypatch.setattr(weights, "downloaded_file", lambda _model: "a file" if is_here else None)
    monkeypatch.setattr(weights, "pull", pull)
    serve(replace(order, runs=[(plans.parse_arm(arm), TASK, 0)]))
    assert events == [*pulled, "run"]


def test_a_fault_reaches_the_caller(order, monkeypatch):
    async def run_task(_runs, _answers):
        raise ValueError("boom")
        yield

    measuring(monkeypatch, run_task)
    with pytest.raises(ValueError, match="boom"):
        serve(order)
