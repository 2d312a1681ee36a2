"""Runs the task-runs of one task in a process of a cluster's node, and hands over what happens item by item.

It must not know which program manages the cluster, nor where the results go.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from greenloop.core.errors import GreenloopError, UsageError
from greenloop.core.records.model import Reply, Role
from greenloop.models.local_models import is_local, require_local_models
from greenloop.project.settings import Settings, get
from greenloop_lab.bench.measure import Conditions, Measurement, TaskRun
from greenloop_lab.bench.results import TaskRunResult
from greenloop_lab.sandboxes.cluster.messages import Refusal, pack, unpack
from greenloop_lab.sandboxes.cluster.node_sandbox import own_loop

# Seconds between two looks whether the task was cancelled.
POLL_SECONDS = 0.2


@dataclass(frozen=True, kw_only=True)
class Order:
    """Order to a node: task-runs of one task, and the answers that were recorded for it."""

    conditions: Conditions
    runs: Sequence[TaskRun]
    replies: dict[str, Reply] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A model's answer, to be recorded."""

    key: str
    reply: Reply


@dataclass(frozen=True, kw_only=True)
class Note:
    """A line for people about what happens on the node."""

    text: str


Item = TaskRunResult | Answer | Note | Refusal


def serve(order: bytes) -> Iterator[bytes]:
    """Runs the packed order; yields packed items while it runs. Closing the iterator ends the sandbox too."""
    items: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
    work = asyncio.run_coroutine_threadsafe(_run(unpack(order), items.put), own_loop())
    work.add_done_callback(lambda _work: items.put(None))
    try:
        while True:
            with suppress(queue.Empty):
                item = items.get(timeout=POLL_SECONDS)
                if item is None:
                    break
                yield pack(item)
        work.result()
    finally:
        work.cancel()


async def _run(order: Order, hand_over: Callable[[Item], None]) -> None:
    task = order.runs[0][1]
    answers = _SentAnswers(replies=dict(order.replies), hand_over=hand_over)
    try:
        if task.folder and not Path(task.folder).is_dir():  # noqa: ASYNC240 - nothing else is running
            raise UsageError(
                f"A node of the cluster has no folder {task.folder}, which the task {task.id} needs.",
                remedy="Share the folder with every node under the same path, or use tasks that bring their own files.",
            )
        for arm in dict.fromkeys(arm.name for arm, _task, _repeat in order.runs):
            settings = order.conditions.settings_of(next(run[0] for run in order.runs if run[0].name == arm), task)
            await _fetch_weights(settings)
        with TemporaryDirectory(prefix="greenloop-node-") as folder:
            conditions = replace(order.conditions, history=Path(folder) / "history.sqlite3")
            measurement = _measurement(conditions, lambda text: hand_over(Note(text=text)))
            async with aclosing(measurement.run_task(order.runs, answers)) as measured:
                async for done in measured:
                    hand_over(done)
    except GreenloopError as error:
        hand_over(Refusal.of(error))


@dataclass(kw_only=True)
class _SentAnswers:
    """The recorded answers that came with the order; a new one is handed over."""

    replies: dict[str, Reply]
    hand_over: Callable[[Item], None]

    def get(self, key: str) -> Reply | None:
        return self.replies.get(key)

    def put(self, key: str, reply: Reply) -> None:
        self.replies[key] = reply
        self.hand_over(Answer(key=key, reply=reply))


async def _fetch_weights(settings: Settings) -> None:
    """Downloads the weights of embedded models that this node lacks; its processes do so one at a time."""
    for name in dict.fromkeys(map(str, _model_names(settings))):
        if is_local(name) and require_local_models().downloaded_file(name) is None:
            await require_local_models().pull(lambda _done, _total: None, name)


def _model_names(settings: Settings) -> list[Any]:
    named = [get(settings, f"{role}.model") for role in Role]
    return [name for name in (settings.model, *named, *settings.escalation.models) if name]


# -- what stays in the process from one task to the next -------------------------------------------------------------

_open_models: dict[str, Any] = {}


def _measurement(conditions: Conditions, report_status: Callable[[str], None]) -> Measurement:
    """A measurement with the models that are open in this process."""
    measurement = Measurement(conditions, report_status)
    measurement.models = _open_models
    return measurement
