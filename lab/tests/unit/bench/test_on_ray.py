"""A lost node costs its unfinished task-runs, and what goes wrong on a node is one sentence."""

from __future__ import annotations

import asyncio
import pickle
from types import SimpleNamespace

import pytest

from greenloop.core.errors import CannotVerifyError, GreenloopError, UsageError
from greenloop.core.records.model import Reply, Usage
from greenloop_lab.bench import node, on_ray, plans
from greenloop_lab.bench.measure import Conditions
from greenloop_lab.bench.on_ray import RayCluster, without
from greenloop_lab.bench.recordings import Recordings
from greenloop_lab.bench.tasks import Task
from greenloop_lab.sandboxes.cluster import connection
from greenloop_lab.sandboxes.cluster.messages import Refusal

ARMS = [plans.parse_arm(name) for name in ("plain", "default")]
TASK = Task(id="t", kind="draft", target="test_m.py", files={}, cases=["test_m.py::test_it"])
RUNS = [(arm, TASK, repeat) for repeat in range(2) for arm in ARMS]
CONDITIONS = Conditions()


class RayError(Exception):
    pass


class RayTaskError(RayError):
    def __init__(self, cause):
        super().__init__(str(cause))
        self.cause = cause


def stream(items):
    """What Ray's generator gives: references that are awaited; an error in their place is raised."""

    async def value(item):
        if isinstance(item, Exception):
            raise item
        return item

    async def references():
        for item in items:
            yield value(item)

    return references()


class Nodes:
    """Each call of a task gets the next of these streams; keeps the orders."""

    def __init__(self, *streams, alive=("n1", "n2")):
        self.streams, self.orders = list(streams), []
        self.exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
        self.alive = alive

    def remote(self, identity, order):
        assert identity == connection.identity()
        self.orders.append(pickle.loads(order))
        return stream(self.streams.pop(0))

    def nodes(self):
        return [
            {"NodeID": name, "Alive": name in self.alive, "NodeManagerAddress": "10.0.0.1"} for name in ("n1", "n2")
        ]

    def cluster_resources(self):
        return {"CPU": 2.0}

    def cancel(self, references):
        self.cancelled = references

    def shutdown(self):
        self.is_left = True


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(on_ray, "CLEANUP_SECONDS", 0.0)


async def dispatch(nodes, tmp_path, runs=RUNS):
    """The finished keys, the status lines and the recordings."""
    status, finished = [], []
    cluster = RayCluster(address="", report_status=status.append, _ray=nodes, _remote=nodes)
    recordings = Recordings(tmp_path / "answers.jsonl")
    await cluster.run_tasks([runs], CONDITIONS, recordings, lambda done, place: finished.append((done.key, place)))
    return finished, status, recordings


def item(value):
    return "item", pickle.dumps(value)


def key_of(run):
    return run[0].name, run[1].id, run[2]


@pytest.fixture
def done(make):
    return [item(make(arm.name, task.id, ("", True), repeat=repeat)) for arm, task, repeat in RUNS]


async def test_results_arrive_with_the_place_where_they_were_measured(done, tmp_path):
    finished, status, _ = await dispatch(Nodes([("node", "n1"), *done]), tmp_path)
    assert finished == [(key_of(run), "10.0.0.1 n1") for run in RUNS]
    assert status == []


async def test_a_line_of_a_node_is_shown(done, tmp_path):
    _, status, _ = await dispatch(Nodes([("node", "n1"), item(node.Note(text="it takes long")), *done]), tmp_path)
    assert status == ["it takes long"]


async def test_a_lost_node_costs_its_unfinished_task_runs_only(done, tmp_path):
    reply = Reply(text="x", usage=Usage(), model="m")
    answer = item(node.Answer(key="k", reply=reply))
    nodes = Nodes(
        [("node", "n1"), done[0], answer, RayError("the node died")],
        [RayError("it died before it began")],
        [("node", "n2"), *done[1:]],
        alive=("n2",),
    )
    finished, status, recordings = await dispatch(nodes, tmp_path)
    assert [key for key, _place in finished] == [key_of(run) for run in RUNS]
    assert [[key_of(run) for run in order.runs] for order in nodes.orders] == [
        [key_of(run) for run in RUNS[skipped:]] for skipped in (0, 1, 1)
    ]
    assert status == ["t: its node was lost; what is not finished runs on another one."] * 2
    # What the lost node had asked a model is not paid for again.
    assert [dict(order.replies) for order in nodes.orders] == [{}, {"k": reply}, {"k": reply}]
    assert recordings.get("k") == reply


async def test_a_task_that_ends_its_process_is_given_up(done, tmp_path):
    crashes = [[("node", "n1"), RayError("out of memory")]] * on_ray.MAX_CRASHES
    with pytest.raises(GreenloopError, match="ended 3 times on nodes that live on: out of memory"):
        await dispatch(Nodes(*crashes), tmp_path)


async def test_a_refusal_of_a_node_ends_the_run_with_its_sentence(tmp_path):
    refusal = Refusal(kind="UsageError", sentence="No.", remedy="Yes.")
    with pytest.raises(UsageError, match="No.") as problem:
        await dispatch(Nodes([("node", "n1"), item(refusal)]), tmp_path)
    assert problem.value.remedy == "Yes."


async def test_a_cancel_ends_what_runs_on_the_nodes_and_leaves_the_cluster(tmp_path):
    class Hanging(Nodes):
        def remote(self, _identity, _order):
            async def references():
                yield asyncio.Event().wait()

            self.references = references()
            return self.references

    nodes = Hanging()
    work = asyncio.create_task(dispatch(nodes, tmp_path))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert nodes.cancelled is nodes.references
    assert nodes.is_left


async def test_a_node_without_greenloop_is_told(tmp_path):
    missing = RayTaskError(ModuleNotFoundError("No module named 'greenloop'", name="greenloop"))
    with pytest.raises(CannotVerifyError, match="no greenloop") as problem:
        await dispatch(Nodes([("node", "n1"), missing]), tmp_path)
    assert "Install the same one on every node" in problem.value.remedy


async def test_a_fault_on_a_node_is_one_sentence(tmp_path):
    with pytest.raises(GreenloopError, match="^A node failed: boom$"):
        await dispatch(Nodes([("node", "n1"), RayTaskError(ValueError("boom"))]), tmp_path)


def test_what_is_left_of_a_task(make):
    assert without(RUNS, make("plain", "t", repeat=1)) == [RUNS[0], RUNS[1], RUNS[3]]
    assert without(RUNS, make("plain", "other")) == RUNS
