"""A sandbox on several nodes: a run that takes long is split among them, and reported as one execution.

It must not know how a node isolates code, nor what is run.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from greenloop.core.deadline import gather_or_cancel
from greenloop.core.errors import CannotVerifyError, GreenloopError
from greenloop.project.settings import Settings
from greenloop_lab.sandboxes.cluster import connection
from greenloop_lab.sandboxes.cluster.case_seconds import CaseSeconds
from greenloop_lab.sandboxes.cluster.messages import Refusal, pack, unpack
from greenloop_lab.sandboxes.cluster.node_sandbox import Opening, workspace_state
from greenloop_lab.sandboxes.cluster.splitting import merge, split_cases
from greenloop_sandbox import Execution, SandboxSpec, TestRun, collected_cases, forged
from greenloop_sandbox.report.cases import collect_errors, records_of_kind

NAME = "ray"
OPEN_SECONDS = 120.0  # for a node to have a processor free, and to open its sandbox
CLOSE_SECONDS = 5.0
PART_SECONDS = 2.0  # of tests, below which a part is not worth a process on another node
MAX_LOSSES = 5  # of nodes, by one part
LOSS_REMEDY = "See whether the nodes have enough memory, or run the tests on this machine."


class _NodeLostError(Exception):
    pass


class ClusterSession:
    """An open sandbox on a cluster; `processors` are reserved on a node for each sandbox."""

    def __init__(
        self,
        ray: Any,
        spec: SandboxSpec,
        settings: Settings,
        report_status: Callable[[str], None],
        processors: float = 1.0,
    ) -> None:
        self._ray, self._spec, self._settings = ray, spec, settings
        self._report_status, self._processors = report_status, processors
        self._actors = ray.remote(num_cpus=processors, max_restarts=0, max_concurrency=4)(_actor_class())
        self._workers: set[Any] = set()  # actors, each with a sandbox on some node
        self._idle: asyncio.Queue[Any] = asyncio.Queue()
        self._seconds = CaseSeconds(spec.root)
        self._short: set[tuple[object, ...]] = set()  # selections that are not worth splitting

    @property
    def name(self) -> str:
        return NAME

    async def open(self) -> None:
        """Opens a sandbox on the first node. Raises `CannotVerifyError` with the remedy."""
        await self._add_worker()

    async def run(self, run: TestRun) -> Execution:
        """Runs the tests on one node, or splits them among several. What fails is reported in `Execution.broken`."""
        try:
            cases, parts = await self._split(run)
            if len(parts) < 2:
                execution = await self._run_part(run)
            else:
                await self._grow(len(parts))
                self._report_status(f"running {len(cases)} tests in {len(parts)} parts")
                runs = [replace(run, only=part) for part in parts]
                executions = await gather_or_cancel([self._run_part(part) for part in runs])
                execution = merge(executions, cases)
        except GreenloopError as error:
            return Execution(broken=f"{error} {error.remedy}".strip())
        if not (run.collect or execution.broken or forged(execution)):
            await asyncio.to_thread(self._seconds.add, execution)
        return execution

    async def warm(self) -> None:
        """Opens a sandbox where there is none. Never raises: the first run reports what is wrong."""
        with contextlib.suppress(GreenloopError):
            if not self._workers:
                await self._add_worker()

    async def pause(self) -> None:
        """Gives the nodes free; the next run opens a sandbox again."""
        await self.close()

    async def close(self) -> None:
        """Closes the sandboxes on all nodes."""
        workers, self._workers, self._idle = self._workers, set(), asyncio.Queue()
        await asyncio.gather(*map(self._close_worker, workers))

    # -- what runs where ----------------------------------------------------------------------------------------------

    async def _split(self, run: TestRun) -> tuple[Sequence[str], Sequence[tuple[str, ...]]]:
        """The ids of all cases and of those in each part; no two parts where splitting is impossible or not worth it.

        Cases are collected first, over the same files: what the code under test does to the collection counts.
        """
        selection = (run.selectors, run.only)
        whole = (
            run.collect,
            run.trace,
            run.watch,
            run.statements,
            run.profile,
            run.inspect,
            run.passes,
            run.case_seconds,
        )
        if any(whole):
            return (), ()
        slots = int(self._ray.cluster_resources().get("CPU", 0) / self._processors)
        if slots < 2 or selection in self._short:
            return (), ()
        collection = replace(run, collect=True, baseline=False, apart=None)
        collected = await self._run_part(collection)
        if collected.broken or collected.killed or forged(collected) or collect_errors(collected):
            return (), ()
        if not any(records_of_kind(collected, "finished")):
            return (), ()
        cases = [case.id for case in collected_cases(collected)]
        known = await asyncio.to_thread(self._seconds.read)
        if all(case in known for case in cases):
            slots = min(slots, math.ceil(sum(known[case] for case in cases) / PART_SECONDS))
        parts = split_cases(cases, known, slots)
        if len(parts) < 2:
            self._short.add(selection)
        return cases, parts

    async def _run_part(self, run: TestRun) -> Execution:
        """Runs on one node; where that is lost, on another one. Raises `GreenloopError`."""
        for _ in range(MAX_LOSSES):
            if not self._workers:
                await self._add_worker()
            worker = await self._idle.get()
            try:
                execution: Execution = unpack(await self._call(worker.run, pack(run)))
            except self._ray.exceptions.RayTaskError as error:
                self._idle.put_nowait(worker)
                raise connection.explain_fault(error) from error
            except self._ray.exceptions.RayError:
                self._workers.discard(worker)
                self._ray.kill(worker)  # where it was only out of reach
                self._report_status("A node was lost; its tests run on another one.")
            except asyncio.CancelledError:
                self._idle.put_nowait(worker)
                raise
            else:
                self._idle.put_nowait(worker)
                return execution
        raise CannotVerifyError(
            f"{MAX_LOSSES} nodes of the cluster were lost while they ran the same tests.", remedy=LOSS_REMEDY
        )

    async def _call(self, method: Any, *values: Any) -> Any:
        """Awaits what an actor answers; cancelling cancels it there. Raises Ray's errors."""
        reference = method.remote(*values)
        try:
            return await reference
        except asyncio.CancelledError:
            self._ray.cancel(reference)
            raise

    # -- sandboxes on nodes -------------------------------------------------------------------------------------------

    async def _grow(self, count: int) -> None:
        """Opens sandboxes until there are so many, or no node has room; what can be had is used."""
        missing = range(count - len(self._workers))
        opening = await self._read_opening() if missing else b""
        results = await asyncio.gather(*(self._add_worker(opening) for _ in missing), return_exceptions=True)
        for error in results:
            if isinstance(error, BaseException) and not isinstance(error, GreenloopError):
                raise error
            if error is not None:
                self._report_status(f"{error} {len(self._workers)} of {count} sandboxes are used.")

    async def _read_opening(self) -> bytes:
        """Returns the packed opening for a node, with the state of the workspace's files as they are now."""
        state = await asyncio.to_thread(workspace_state, self._spec.root)
        return pack(Opening(spec=self._spec, settings=self._settings, state=state))

    async def _add_worker(self, opening: bytes = b"") -> None:
        """Opens a sandbox on a node with a free processor. Raises `CannotVerifyError`."""
        opening = opening or await self._read_opening()
        for _ in range(MAX_LOSSES):
            actor = self._actors.options(scheduling_strategy="SPREAD").remote()
            try:
                await self._open_on(actor, opening)
            except _NodeLostError:
                self._report_status("A node was lost while it opened a sandbox; another one is asked.")
            except BaseException:
                self._ray.kill(actor)
                raise
            else:
                self._workers.add(actor)
                self._idle.put_nowait(actor)
                return
        raise CannotVerifyError(f"{MAX_LOSSES} nodes of the cluster were lost one after the other.", remedy=LOSS_REMEDY)

    async def _open_on(self, actor: Any, opening: bytes) -> None:
        """Opens the sandbox of an actor. Raises `CannotVerifyError`, and `_NodeLostError` where its node was lost."""
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                answer = await self._call(actor.open, connection.identity(), opening)
        except TimeoutError as error:
            raise CannotVerifyError(
                f"No node of the cluster could open a sandbox within {OPEN_SECONDS:g} s.",
                remedy="Wait until its other work is done, or add a node: `ray start --address=HOST:PORT`.",
            ) from error
        except self._ray.exceptions.RayTaskError as error:
            raise connection.explain_fault(error) from error
        except self._ray.exceptions.RayError as error:
            raise _NodeLostError from error
        if isinstance(answer, tuple):
            sentence, remedy = connection.describe_difference(*answer)
            raise CannotVerifyError(sentence, remedy=remedy)
        if isinstance(refusal := unpack(answer), Refusal):
            raise refusal.error()

    async def _close_worker(self, worker: Any) -> None:
        with contextlib.suppress(TimeoutError, self._ray.exceptions.RayError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._call(worker.close)
        self._ray.kill(worker)


def _actor_class() -> type:
    """Returns a node's actor; Ray sends the code of a nested class, so a node with another greenloop can say so."""

    class TestNode:
        def __init__(self) -> None:
            self.sandbox: Any = None

        async def open(self, expected: str, opening: bytes) -> bytes | tuple[str, str, str]:
            import ray  # noqa: PLC0415

            from greenloop_lab.sandboxes.cluster import connection as here  # noqa: PLC0415

            if here.identity() != expected:
                return str(ray.util.get_node_ip_address()), here.identity(), expected

            from greenloop_lab.sandboxes.cluster.node_sandbox import NodeSandbox  # noqa: PLC0415

            self.sandbox = NodeSandbox()
            answer: bytes = await self.sandbox.open(opening)
            return answer

        async def run(self, run: bytes) -> bytes:
            execution: bytes = await self.sandbox.run(run)
            return execution

        async def close(self) -> None:
            await self.sandbox.close()

    return TestNode
