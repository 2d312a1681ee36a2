"""A run that takes long is split among the nodes; what a lost node ran runs on another one; what fails is a sentence."""

from __future__ import annotations

import asyncio
import pickle
import sys
from types import SimpleNamespace

import pytest

from executions import execute
from greenloop.core.errors import CannotVerifyError
from greenloop.project.settings import Settings
from greenloop_lab.sandboxes.cluster import connection
from greenloop_lab.sandboxes.cluster import session as cluster_session
from greenloop_lab.sandboxes.cluster.messages import Refusal
from greenloop_lab.sandboxes.cluster.session import ClusterSession
from greenloop_sandbox import Environment, Execution, SandboxSpec, TestRun, WatchedLines

CASES = [f"test_m.py::test_{number}" for number in range(8)]
RUN = TestRun(selectors=("test_m.py",))


class RayError(Exception):
    pass


class RayTaskError(RayError):
    pass


class Method:
    def __init__(self, call):
        self.call = call

    def remote(self, *values):
        return self.call(*values)


class Node:
    """An actor that runs honest tests, each of so many seconds; `lost` in the order of its runs."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.open, self.run, self.close = map(Method, (self._open, self._run, self._close))
        cluster.opened.append(self)

    async def _open(self, identity, _opening):
        if self.cluster.answers:
            answer = self.cluster.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            if answer == "hang":
                await asyncio.Event().wait()
            return answer
        assert identity == connection.identity()
        return pickle.dumps("bubblewrap")

    async def _run(self, packed):
        run = pickle.loads(packed)
        await asyncio.sleep(0)
        self.cluster.runs.append(run)
        if self.cluster.losses and not run.collect:
            raise self.cluster.losses.pop(0)
        cases = run.only or CASES
        if run.collect:
            return pickle.dumps(execute(dict.fromkeys(cases, "passed")))
        outcomes = dict.fromkeys(cases, "passed")
        return pickle.dumps(timed(execute(outcomes), self.cluster.seconds))

    async def _close(self):
        self.cluster.closed.append(self)


def timed(execution, seconds):
    records = tuple(
        {**record, "seconds": seconds if record["when"] == "call" else 0.0} if record["kind"] == "phase" else record
        for record in execution.records
    )
    return Execution(records=records, status=execution.status, seconds=execution.seconds)


class Cluster:
    """The part of Ray's module that a session uses."""

    def __init__(self, processors=3, seconds=10.0):
        self.processors, self.seconds = processors, seconds
        self.opened, self.closed, self.killed, self.cancelled, self.runs = [], [], [], [], []
        self.answers, self.losses = [], []
        self.exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def remote(self, **_options):
        return lambda _class: self

    def options(self, **_options):
        return SimpleNamespace(remote=lambda: Node(self))

    def cluster_resources(self):
        return {"CPU": float(self.processors)}

    def kill(self, actor):
        self.killed.append(actor)

    def cancel(self, reference):
        self.cancelled.append(reference)


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """`opened(cluster)`: a session, and its status lines."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    environment = Environment(
        executable=sys.executable,
        prefix=tmp_path,
        base=tmp_path,
        version=sys.version_info[:2],
        source="test",
        has_pytest=True,
    )

    def open_session(cluster):
        status = []
        spec = SandboxSpec(root=tmp_path, environment=environment)
        return ClusterSession(cluster, spec, Settings(), status.append), status

    return open_session


def parts_of(cluster):
    return [run.only for run in cluster.runs if not run.collect]


async def test_a_run_is_collected_and_split_among_all_processors_until_its_times_are_known(opened):
    cluster = Cluster()
    session, status = opened(cluster)
    await session.open()
    execution = await session.run(RUN)
    assert [case["id"] for case in execution.records[1]["cases"]] == CASES
    assert sorted(case for part in parts_of(cluster) for case in part) == CASES
    assert len(parts_of(cluster)) == len(cluster.opened) == 3
    assert status == ["running 8 tests in 3 parts"]


async def test_what_takes_less_time_than_a_part_is_worth_runs_on_one_node(opened):
    cluster = Cluster(seconds=0.01)
    session, _status = opened(cluster)
    await session.run(RUN)
    cluster.runs.clear()
    await session.run(RUN)
    assert [run.collect for run in cluster.runs] == [True, False]
    assert parts_of(cluster) == [()]
    cluster.runs.clear()
    await session.run(RUN)
    assert [run.collect for run in cluster.runs] == [False]  # once known, nothing is collected either


async def test_times_are_kept_for_the_next_process(opened):
    session, _status = opened(Cluster(seconds=0.01))
    await session.run(RUN)
    later = Cluster()
    session, _status = opened(later)
    await session.run(RUN)
    assert parts_of(later) == [()]


@pytest.mark.parametrize(
    "about",
    [
        {"collect": True},
        {"trace": True},
        {"watch": (WatchedLines(path="m.py", start=1, end=2),)},
        {"case_seconds": 1.0},
    ],
)
async def test_what_is_measured_or_watched_is_not_split(opened, about):
    cluster = Cluster()
    session, _status = opened(cluster)
    await session.run(TestRun(selectors=("test_m.py",), **about))
    assert len(cluster.runs) == 1


async def test_a_lost_node_costs_only_its_part(opened):
    cluster = Cluster()
    cluster.losses = [RayError("the node died"), RayError("the next one, too")]
    session, status = opened(cluster)
    execution = await session.run(RUN)
    assert execution.status == 0
    assert [case["id"] for case in execution.records[1]["cases"]] == CASES
    assert len(parts_of(cluster)) == 5  # the three parts, and two of them once more
    assert status.count("A node was lost; its tests run on another one.") == 2
    assert len(cluster.killed) == 2


async def test_where_all_nodes_were_lost_others_are_asked_for(opened):
    cluster = Cluster(processors=1)
    cluster.losses = [RayError("the node died")]
    session, _status = opened(cluster)
    assert (await session.run(RUN)).status == 0
    assert len(cluster.opened) == 2


async def test_a_node_that_is_lost_while_it_opens_a_sandbox_costs_nothing(opened):
    cluster = Cluster()
    cluster.answers = [RayError("the node died")]
    session, status = opened(cluster)
    await session.open()
    assert status == ["A node was lost while it opened a sandbox; another one is asked."]
    assert len(cluster.opened) == 2


async def test_a_cluster_that_loses_each_node_that_is_asked_is_given_up(opened):
    cluster = Cluster()
    cluster.answers = [RayError("the node died")] * 9
    session, _status = opened(cluster)
    with pytest.raises(CannotVerifyError, match="5 nodes of the cluster were lost one after the other"):
        await session.open()


async def test_tests_that_end_one_node_after_the_other_are_given_up(opened):
    cluster = Cluster(processors=1)
    cluster.losses = [RayError("out of memory")] * 9
    session, _status = opened(cluster)
    execution = await session.run(RUN)
    assert execution.broken.startswith("5 nodes of the cluster were lost while they ran the same tests.")


async def test_a_fault_on_a_node_is_one_sentence(opened):
    cluster = Cluster(processors=1)
    cluster.losses = [RayTaskError("boom")]
    session, _status = opened(cluster)
    assert (await session.run(RUN)).broken == "A node failed: boom See Ray's logs on that node."
    assert (await session.run(RUN)).status == 0


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (pickle.dumps(Refusal(kind="CannotVerifyError", sentence="No.", remedy="Yes.")), "^No.$"),
        (("10.0.0.2", "0.0.1 (abc)", "0.1.0 (def)"), "The node 10.0.0.2 has greenloop 0.0.1"),
        (RayTaskError("odd"), "A node failed: odd"),
        ("hang", "No node of the cluster could open a sandbox"),
    ],
)
async def test_a_node_that_cannot_open_a_sandbox_says_why(opened, monkeypatch, answer, sentence):
    monkeypatch.setattr(cluster_session, "OPEN_SECONDS", 0.01)
    cluster = Cluster()
    cluster.answers = [answer]
    session, _status = opened(cluster)
    with pytest.raises(Exception, match=sentence) as problem:
        await session.open()
    assert problem.value.remedy
    assert cluster.killed == cluster.opened


async def test_a_cluster_that_has_no_room_gives_what_it_has(opened):
    cluster = Cluster()
    session, status = opened(cluster)
    await session.open()
    cluster.answers = [pickle.dumps(Refusal(kind="CannotVerifyError", sentence="No room.", remedy=""))] * 2
    assert (await session.run(RUN)).status == 0
    assert status[0] == "No room. 1 of 3 sandboxes are used."
    assert sorted(case for part in parts_of(cluster) for case in part) == CASES


async def test_cancelling_cancels_on_the_nodes_and_the_session_goes_on(opened):
    cluster = Cluster(processors=1)
    session, _status = opened(cluster)
    await session.open()
    (node,) = cluster.opened
    began, run = asyncio.Event(), node.run.call

    async def hang(_packed):
        began.set()
        await asyncio.Event().wait()

    node.run.call = hang
    work = asyncio.create_task(session.run(RUN))
    await began.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert len(cluster.cancelled) == 1
    node.run.call = run
    assert (await session.run(RUN)).status == 0


async def test_closing_gives_the_nodes_free_and_a_later_run_opens_again(opened):
    cluster = Cluster(processors=1)
    session, _status = opened(cluster)
    await session.open()
    await session.pause()
    await session.close()
    assert cluster.closed == cluster.killed == cluster.opened
    assert (await session.run(RUN)).status == 0
    assert len(cluster.opened) == 2
