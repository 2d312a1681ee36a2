"""What a tool takes from its context, and how it tells errors."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from greenloop.core.errors import GreenloopError
from greenloop.serving.service import Service

P = ParamSpec("P")
R = TypeVar("R")
ServiceContext = Context[Service, Any]


def service_of(context: ServiceContext) -> Service:
    return context.request_context.lifespan_context


def tell_errors(tool: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    """What a user can mend reaches the client as one sentence with the remedy."""

    @functools.wraps(tool)
    async def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await tool(*args, **kwargs)
        except GreenloopError as error:
            raise ToolError(error.advice) from error

    return call
