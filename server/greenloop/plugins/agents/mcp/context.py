"""The service of a tool from its context, its errors in one sentence, and its progress, reported to the client."""

from __future__ import annotations

import asyncio
import functools
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, ParamSpec, TypeVar

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from greenloop.core.errors import GreenloopError
from greenloop.plugins.agents.service import Service

P = ParamSpec("P")
R = TypeVar("R")
ServiceContext = Context[Service, Any]


def service_of(context: ServiceContext) -> Service:
    return context.request_context.lifespan_context


async def run_cancellable(work: Coroutine[Any, Any, R]) -> R:
    """Runs work that cleans up after itself when it is cancelled, and waits for that.

    The SDK cancels every await of a call, those of its clean-up too; work of asyncio expects to be cancelled once.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    finally:
        if not task.done():
            task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.gather(task, return_exceptions=True)


def tell_errors(tool: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Awaitable[R]]:
    """Makes a tool report to the client, in one sentence with the remedy, errors that the user can correct."""

    @functools.wraps(tool)
    async def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await run_cancellable(tool(*args, **kwargs))
        except GreenloopError as error:
            raise ToolError(error.advice) from error

    return call


@asynccontextmanager
async def report_progress(context: ServiceContext) -> AsyncIterator[Callable[..., None]]:
    """Gives a function `report(sentence)`; a client that is slow gets the latest sentence only.

    The number rises with each sentence, as the protocol wants it; the whole is not known.
    """
    latest: asyncio.Queue[str] = asyncio.Queue(maxsize=1)

    def report(sentence: str) -> None:
        with suppress(asyncio.QueueEmpty):
            latest.get_nowait()
        latest.put_nowait(sentence)

    async def send() -> None:
        for number in itertools.count(1):
            await context.report_progress(number, None, await latest.get())

    sending = asyncio.create_task(send())
    try:
        yield report
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
