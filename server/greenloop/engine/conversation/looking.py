"""Does the looks of a model at the project, within their limits; whatever it calls gets one answer.

It must not know what the model answers in the end.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from greenloop.core import registry
from greenloop.core.errors import GreenloopError
from greenloop.core.records.attempt import Look
from greenloop.core.records.model import ToolCall, ToolSpec
from greenloop.core.text.tokens import estimate_tokens
from greenloop.engine.looks._project import LookError, ProjectView

MOST_LOOKS = 24  # of one run
MOST_IN_TURN = 8  # before one answer
MOST_SECONDS = 60.0  # of all looks of a run
LONGEST = 24_000  # characters of one result
LONGEST_CALL = 20_000  # characters of arguments
LONGEST_NAME = 64
SHOWN = 100  # characters of a summary
_UNUSUAL = re.compile(r"[^A-Za-z0-9_-]")  # characters of a name
ENOUGH = "No more looks: answer with edits now."


@dataclass(kw_only=True)
class Looking:
    """The looks of one run. `mask` removes secrets from results; `tokens` is how many tokens results may have."""

    mask: Callable[[str], str]
    tokens: int
    count: int = 0
    seconds: float = 0.0
    used: int = 0
    _in_turn: int = field(default=0)

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools, in the same order in every request."""
        return tuple(registry.load_part("looks", name).SPEC for name in registry.list_parts("looks"))

    def begin_turn(self) -> None:
        self._in_turn = 0

    @property
    def is_over(self) -> bool:
        """Is any limit reached, so that a further look gets no result?"""
        return (
            self.count >= MOST_LOOKS
            or self._in_turn >= MOST_IN_TURN
            or self.seconds >= MOST_SECONDS
            or self.used >= self.tokens
        )

    async def look(self, call: ToolCall, project: ProjectView) -> Look:
        """Does what a call asks for; never raises because of what was asked.

        The record has a name that providers take back.
        """
        name = _UNUSUAL.sub("_", call.name)[:LONGEST_NAME] or "_"
        call = replace(call, name=name, arguments=call.arguments[:LONGEST_CALL])
        if self.is_over:
            return Look(call=call, result=ENOUGH, summary=f"{_name(call)}: not done, the limit on looks is reached")
        self.count += 1
        self._in_turn += 1
        began = monotonic()
        try:
            async with asyncio.timeout(max(MOST_SECONDS - self.seconds, 1.0)):
                result = await _look(call, project)
        except (LookError, GreenloopError) as error:
            result = str(error)
        except TimeoutError:
            result = "It took too long, and was ended."
        except OSError as error:
            result = f"That cannot be read: {error.strerror or error}."
        seconds = monotonic() - began
        self.seconds += seconds
        result = self.mask(_bounded(result))
        self.used += estimate_tokens(result)
        first = result.split("\n", 1)[0]
        summary = _name(call) if first.endswith(":") else f"{_name(call)}: {first}"
        return Look(call=call, result=result, summary=_shorten(summary), seconds=round(seconds, 3))


async def _look(call: ToolCall, project: ProjectView) -> str:
    known = registry.list_parts("looks")
    if call.name not in known:
        raise LookError(f"There is no tool `{call.name[:SHOWN]}`; there are {', '.join(known)}.")
    arguments = _arguments(call)
    result: str = await registry.load_part("looks", call.name).look(arguments, project)
    return result


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    if len(call.arguments) >= LONGEST_CALL:
        raise LookError("The arguments are too long.")
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise LookError(f"The arguments are not JSON: {error}.") from error
    if not isinstance(arguments, Mapping):
        raise LookError("The arguments must be an object.")
    return arguments


def _bounded(text: str) -> str:
    text = text.encode(errors="replace").decode()  # a call may name half of a surrogate pair
    if len(text) <= LONGEST:
        return text
    kept = text[:LONGEST].rpartition("\n")[0] or text[:LONGEST]
    return f"{kept}\n… {len(text) - len(kept)} more characters"


def _name(call: ToolCall) -> str:
    """The tool with its arguments, as a line for people."""
    try:
        values = [value for value in _arguments(call).values() if value is not None]
        words = [", ".join(map(str, value)) if isinstance(value, list) else str(value) for value in values]
    except LookError:
        words = [call.arguments]
    return _shorten(" ".join([call.name, *(word for word in words if word)]))


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
