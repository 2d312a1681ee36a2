"""Runs coroutines side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")
E = TypeVar("E", bound=Exception)


async def gather_or_cancel(coroutines: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Runs the coroutines concurrently; the first failure cancels the others and is raised."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def gather_with_errors(coroutines: Sequence[Coroutine[Any, Any, T]], expected: type[E]) -> list[T | E]:
    """Runs the coroutines concurrently; returns their results, and errors of that type in place of a result.

    Any other failure cancels the others and is raised.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        for task in asyncio.as_completed(tasks):
            with suppress(expected):
                await task
    finally:
        for each in tasks:
            each.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    return [result for result in ended if isinstance(result, expected) or not isinstance(result, BaseException)]
