"""`greenloop bench rate`: the true and false positive rates of tests that a model designs from docstrings.

It must not know how tests are designed or run.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from typing import Any

from greenloop.cli import exit_codes, interrupt
from greenloop.core.errors import UsageError
from greenloop.core.records.model import ChatRequest, Reply, Role
from greenloop.models.roles import Models
from greenloop_lab.bench import designed_tests, sources
from greenloop_lab.bench.plans import settings_for
from greenloop_lab.bench.recordings import Meter, Recordings, wrap_model
from greenloop_lab.bench.sources import TaskSelection


def run(arguments: argparse.Namespace, settings: Mapping[str, Any], selection: TaskSelection) -> int:
    if not selection.names:
        raise UsageError("No tasks were named.", remedy="Such as `greenloop bench rate mbpp:FILE --sample 20`.")
    try:
        print(interrupt.run(_rate(arguments, settings, selection)))
    except asyncio.CancelledError:
        _report_status("Stopped. Run the same command again to continue.")
        return exit_codes.CANCELLED
    return exit_codes.VERIFIED


async def _rate(arguments: argparse.Namespace, table: Mapping[str, Any], selection: TaskSelection) -> str:
    tasks = await sources.collect_tasks(selection, table, _report_status)
    models = Models(settings=settings_for(table, None))
    answers = Recordings(arguments.answers or arguments.out.with_suffix(".answers.jsonl"))
    try:
        model = wrap_model(await models.model_for(Role.TESTER), answers, Meter())

        async def ask(request: ChatRequest) -> Reply:
            return await model.complete(request, lambda _text: None)

        verdicts = [
            await designed_tests.rate_task(each, settings_for(table, None), ask, _report_status) for each in tasks
        ]
    finally:
        await models.close()
    rates = designed_tests.measure_rates([each for each in verdicts if each is not None])
    return designed_tests.format_rates(rates, len(tasks))


def _report_status(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
