"""Runs tasks on a cluster of Ray; the only module that knows Ray, which it imports when a cluster is first needed.

Each task is one Ray task, with its sandbox on the node. What it hands over arrives while it runs; when its node is
lost, only its unfinished task-runs run again, on another node.
It must not know how a task-run is measured, nor how results are kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from greenloop.bench import node, results
from greenloop.bench.measure import Conditions, TaskRun
from greenloop.bench.recordings import Recordings
from greenloop.bench.results import TaskRunResult
from greenloop.core.concurrency import gather_or_cancel
from greenloop.core.errors import CannotVerifyError, GreenloopError, UsageError
from greenloop.project import configuration

log = logging.getLogger(__name__)

WORD = "ray"
SCHEME = "ray://"
PORT = 6379  # of `ray start --head`
CONNECT_SECONDS = 5.0
# Tasks that are handed to the cluster at once, at least: more than it runs, so that a node that joins has work.
LANES = 64
LANES_PER_PROCESSOR = 4
# Seconds for the nodes to remove their folders after a cancel, before Ray kills what still runs there.
CLEANUP_SECONDS = 0.8
# Times that a task may end its process while the node lives on; a node that is lost is not the task's fault.
MAX_CRASHES = 3
START_REMEDY = "Start one: `ray start --head` here, and `ray start --address=HOST:6379` on the other machines."

Receive = Callable[[TaskRunResult, str], None]


def parse_address(text: str) -> str:
    """The address in `ray` (empty: the cluster of this machine) or `ray://HOST[:PORT]`. Raises `UsageError`."""
    if text == WORD:
        return ""
    host, colon, port = text.removeprefix(SCHEME).partition(":")
    if not text.startswith(SCHEME) or not host or "/" in text.removeprefix(SCHEME) or (colon and not _is_port(port)):
        raise UsageError(
            f"'{text}' is not a cluster.",
            remedy="Write `--on ray` for the Ray cluster that this machine belongs to, or `--on ray://HOST:PORT`.",
        )
    return f"{host}:{port or PORT}"


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text) < 1 << 16


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
                async for item in self._items(node.pack(order)):
                    if isinstance(item, str):
                        place = item
                    elif isinstance(item, node.Answer):
                        recordings.put(item.key, item.reply, task=task.id)
                    elif isinstance(item, node.Refusal):
                        raise item.error()
                    else:
                        receive(item, self._host(place))
                        unfinished = without(unfinished, item)
            except self._ray.exceptions.RayTaskError as error:
                raise _explain_fault(error) from error
            except self._ray.exceptions.RayError as error:
                self._note_loss(task.id, place, error)
            else:
                return

    async def _items(self, order: bytes) -> AsyncIterator[str | node.Item]:
        """What a node hands over, after the id of the node itself. Raises Ray's errors."""
        references = self._remote.remote(node.identity(), order)
        try:
            async for reference in references:
                kind, value = await reference
                yield value if kind == "node" else node.unpack(value)
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
        try:
            import ray  # noqa: PLC0415 - an optional library that takes a second to load
            import ray.exceptions  # noqa: PLC0415
        except ModuleNotFoundError as error:
            if error.name != WORD:
                raise
            raise CannotVerifyError(
                "Ray is not installed.", remedy='Install it: pip install "greenloop[ray]"'
            ) from error
        if self.address:
            _check_reachable(self.address)
        try:
            with _undisturbed():
                ray.init(
                    address=self.address or "auto",
                    log_to_driver=False,
                    logging_level=logging.CRITICAL,
                    configure_logging=True,
                )
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise _explain_refusal(self.address, error) from error
        # Ray prints what happens to nodes to standard output, which is the harness's own, and has no setting for that.
        ray._private.worker.print_to_stdstream = _log_message  # noqa: SLF001
        self._ray = ray
        self._remote = ray.remote(num_cpus=self.processors, num_returns="streaming", max_retries=0)(_remote_function())


def _log_message(data: Mapping[str, Any], **_options: Any) -> None:
    log.debug("%s", "\n".join(map(str, data.get("lines", ()))))


def without(runs: Sequence[TaskRun], done: TaskRunResult) -> list[TaskRun]:
    """The task-runs but the one that is done."""
    return [each for each in runs if (each[0].name, each[1].id, each[2]) != done.key]


def _remote_function() -> Callable[[str, bytes], Iterator[tuple[str, Any]]]:
    """What runs on a node. Ray sends the code of a nested function, so a node with another greenloop can say so."""

    def run_order(expected: str, order: bytes) -> Iterator[tuple[str, Any]]:
        import ray  # noqa: PLC0415

        from greenloop.bench import node as here  # noqa: PLC0415

        yield "node", ray.get_runtime_context().get_node_id()
        if here.identity() != expected:
            address = ray.util.get_node_ip_address()
            refusal = here.Refusal(
                kind="CannotVerifyError",
                sentence=f"The node {address} has greenloop {here.identity()}, and this machine has {expected}.",
                remedy="Install the same greenloop for the Python that runs `ray start` on every node, and start the "
                "nodes again.",
            )
            yield "item", here.pack(refusal)
            return
        for item in here.serve(order):
            yield "item", item

    return run_order


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in table.items()}


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Keeps what connecting would change: the handler of SIGTERM, and what nodes may import.

    Ray adds the current folder to the path of imports of every node, and a workspace is not trusted.
    """
    handler, folder = signal.getsignal(signal.SIGTERM), Path.cwd()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.chdir(Path(sys.executable).parent)
    try:
        yield
    finally:
        os.chdir(folder)
        with contextlib.suppress(ValueError):  # not in the main thread, where Ray changes nothing either
            signal.signal(signal.SIGTERM, handler)


def _check_reachable(address: str) -> None:
    """Raises `CannotVerifyError` where nothing listens; Ray itself would try for a long time."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        raise CannotVerifyError(
            f"No Ray cluster answers at {address}: {error.strerror or error}.",
            remedy=f"Name the head of a cluster, with the port of `ray start --head` ({PORT}). {START_REMEDY}",
        ) from error


def _explain_refusal(address: str, error: Exception) -> GreenloopError:
    text = str(error).strip()
    reason = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    if "version mismatch" in text.lower():
        return CannotVerifyError(
            "The cluster runs another Ray or another Python than this machine.",
            remedy="Install the same versions of both on every node.",
        )
    if not address and isinstance(error, ConnectionError):
        return CannotVerifyError("This machine belongs to no Ray cluster.", remedy=START_REMEDY)
    if address:
        return CannotVerifyError(
            f"The Ray cluster at {address} cannot be used from here: {reason}",
            remedy=f"Make this machine a node of it: `ray start --address={address} --num-cpus=0`. The port is that of "
            f"`ray start --head` ({PORT}), not that of the Ray Client.",
        )
    return CannotVerifyError(f"The Ray cluster cannot be used: {reason}", remedy=START_REMEDY)


def _explain_fault(error: Exception) -> GreenloopError:
    """What went wrong on a node outside of greenloop's own errors, above all that it has no greenloop."""
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, ModuleNotFoundError) and (cause.name or "").partition(".")[0] == "greenloop":
        return CannotVerifyError(
            "A node of the cluster has no greenloop, or another one.",
            remedy='Install the same one on every node: pip install "greenloop[ray]", for the Python of `ray start`.',
        )
    lines = [line for line in str(cause).splitlines() if line.strip()]
    return GreenloopError(
        f"A node failed: {lines[-1].strip() if lines else type(cause).__name__}",
        remedy="See Ray's logs on that node.",
    )
