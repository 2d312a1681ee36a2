"""Runs tasks on a cluster of Ray.

Each task is one Ray task, with its sandbox on the node. What it hands over arrives while it runs; when its node is
lost, only its unfinished task-runs run again, on another node.
It must not know how a task-run is measured, nor how results are kept.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from greenloop.core.deadline import gather_or_cancel
from greenloop.core.errors import GreenloopError
from greenloop.project import configuration
from greenloop_lab.bench import node, results
from greenloop_lab.bench.measure import Conditions, TaskRun
from greenloop_lab.bench.recordings import Recordings
from greenloop_lab.bench.results import TaskRunResult
from greenloop_lab.sandboxes.cluster import connection
from greenloop_lab.sandboxes.cluster.messages import Refusal, pack, unpack

# Tasks that are handed to the cluster at once, at least: more than it runs, so that a node that joins has work.
LANES = 64
LANES_PER_PROCESSOR = 4
# Seconds for the nodes to remove their folders after a cancel, before Ray kills what still runs there.
CLEANUP_SECONDS = 0.8
# Times that a task may end its process while the node lives on; a node that is lost is not the task's fault.
MAX_CRASHES = 3

Receive = Callable[[TaskRunResult, str], None]


@dataclass(kw_only=True)
class RayCluster:
    """A cluster. `address` is that of its head, empty for the one of this machine; `processors` are for each task."""

    address: str
    report_status: Callable[[str], None]
    processors: float = 1.0
    _ray: Any = None
    _remote: Any = None
    _losses: dict[str, list[str]] = field(default_factory=dict)

    async def run_tasks(
        self,
        work: Sequence[Sequence[TaskRun]],
        conditions: Conditions,
        recordings: Recordings,
        receive: Receive,
    ) -> None:
        """Runs each task's task-runs on some node. Raises `GreenloopError` where nothing can be measured."""
        if not work:
            return
        self._connect()
        user, _warnings = configuration.load(None)
        conditions = replace(conditions, user_settings=_plain(results.effective_settings(user)), history=None)
        waiting = deque(work)

        async def run_next() -> None:
            while waiting:
                await self._run_task(waiting.popleft(), conditions, recordings, receive)

        processors = int(self._ray.cluster_resources().get("CPU", 0))
        if not processors:
            self.report_status("No node of the cluster has a processor; the tasks wait for one.")
        lanes = min(len(work), max(LANES, LANES_PER_PROCESSOR * processors))
        try:
            await gather_or_cancel([run_next() for _lane in range(lanes)])
        except BaseException:
            await asyncio.sleep(CLEANUP_SECONDS)
            self.close()  # ends what still runs on the nodes
            raise

    def close(self) -> None:
        """Leaves the cluster; Ray ends what still runs there."""
        if self._ray is not None:
            self._ray.shutdown()
            self._ray = None

    # -- one task -----------------------------------------------------------------------------------------------------

    async def _run_task(
        self, runs: Sequence[TaskRun], conditions: Conditions, recordings: Recordings, receive: Receive
    ) -> None:
        task = runs[0][1]
        unfinished = list(runs)
        while unfinished:
            order = node.Order(conditions=conditions, runs=unfinished, replies=recordings.of_task(task.id))
            place = ""
            try:
                async for item in self._items(pack(order)):
                    if isinstance(item, str):
                        place = item
                    elif isinstance(item, node.Answer):
                        recordings.put(item.key, item.reply, task=task.id)
                    elif isinstance(item, node.Note):
                        self.report_status(item.text)
                    elif isinstance(item, Refusal):
                        raise item.error()
                    else:
                        receive(item, self._host(place))
                        unfinished = without(unfinished, item)
            except self._ray.exceptions.RayTaskError as error:
                raise connection.explain_fault(error) from error
            except self._ray.exceptions.RayError as error:
                self._note_loss(task.id, place, error)
            else:
                return

    async def _items(self, order: bytes) -> AsyncIterator[str | node.Item]:
        """Yields the items of a node, after the id of the node itself. Raises Ray's errors."""
        references = self._remote.remote(connection.identity(), order)
        try:
            async for reference in references:
                kind, value = await reference
                yield value if kind == "node" else unpack(value)
        except asyncio.CancelledError:
            self._ray.cancel(references)
            raise

    def _note_loss(self, task: str, place: str, error: Exception) -> None:
        """Raises `GreenloopError` for a task that ends its process again and again, on nodes that live on."""
        losses = self._losses.setdefault(task, [])
        losses.append(place)
        alive = {each["NodeID"] for each in self._ray.nodes() if each["Alive"]}
        if sum(each in alive for each in losses) >= MAX_CRASHES:
            reason = str(error).strip().partition("\n")[0]
            raise GreenloopError(
                f"The process of the task {task} ended {MAX_CRASHES} times on nodes that live on: {reason}",
                remedy="See whether the nodes have enough memory, give each task more processors with --cpus, or leave "
                "the task out; the same command continues.",
            ) from error
        self.report_status(f"{task}: its node was lost; what is not finished runs on another one.")

    def _host(self, place: str) -> str:
        """The address of a node, and the first characters of its id."""
        addresses = {each["NodeID"]: each["NodeManagerAddress"] for each in self._ray.nodes()}
        return f"{addresses.get(place, 'node')} {place[:6]}"

    # -- the connection -----------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        if self._ray is not None:
            return
        ray = connection.connect(self.address)
        self._ray = ray
        self._remote = ray.remote(num_cpus=self.processors, num_returns="streaming", max_retries=0)(_remote_function())


def without(runs: Sequence[TaskRun], done: TaskRunResult) -> list[TaskRun]:
    """The task-runs but the one that is done."""
    return [each for each in runs if (each[0].name, each[1].id, each[2]) != done.key]


def _remote_function() -> Callable[[str, bytes], Iterator[tuple[str, Any]]]:
    """Returns a node's function; Ray sends the code of a nested one, so a node with another greenloop can say so."""

    def run_order(expected: str, order: bytes) -> Iterator[tuple[str, Any]]:
        import ray  # noqa: PLC0415

        from greenloop_lab.bench import node as here  # noqa: PLC0415
        from greenloop_lab.sandboxes.cluster import connection as connection_here  # noqa: PLC0415
        from greenloop_lab.sandboxes.cluster import messages  # noqa: PLC0415

        yield "node", ray.get_runtime_context().get_node_id()
        found = connection_here.identity()
        if found != expected:
            sentence, remedy = connection_here.describe_difference(ray.util.get_node_ip_address(), found, expected)
            refusal = messages.Refusal(kind="CannotVerifyError", sentence=sentence, remedy=remedy)
            yield "item", messages.pack(refusal)
            return
        for item in here.serve(order):
            yield "item", item

    return run_order


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in table.items()}
