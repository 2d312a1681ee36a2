"""Asks a model until it answers: does the looks that it calls for, and goes on with an answer that was cut.

It must not know what the answer means.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from time import monotonic
from typing import Any

from greenloop.core import registry
from greenloop.core.errors import GreenloopError
from greenloop.core.records.attempt import Look
from greenloop.core.records.model import ChatRequest, Message, Reply, ToolCall, ToolSpec, Usage
from greenloop.core.text.tokens import estimate_tokens
from greenloop.core.text.written_calls import as_plain, read_calls, without_calls
from greenloop.drafting.candidates.answers.code_blocks import find_edits
from greenloop.plugins.conversations.looks._project import LookError, ProjectView

MOST_CALLS = 16  # of one reply; further ones are forgotten
LONGEST = 120_000  # characters of an answer, more than its tokens have; what follows is cut
MOST_CUTS = 2  # times that an answer which was cut at its limit is asked on
MORE_ROOM = 2  # times the room, for an answer that spent all of it on thinking
GO_ON = "Your answer was cut off there. Go on exactly where it stopped, and repeat nothing."


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The end of a turn: the answer with the looks before it, and what all of it used. `is_cut`: it is not whole."""

    text: str
    looks: tuple[Look, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    is_cut: bool = False
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One turn of a conversation.

    `messages` makes the request's messages from the looks so far; `build` makes a request of messages and tools;
    `ask` sends it. `takes_tools`: the model calls functions, else it writes its calls into the answer.
    """

    messages: Callable[[Sequence[Look]], tuple[Message, ...]]
    build: Callable[[Sequence[Message], Sequence[ToolSpec]], ChatRequest]
    ask: Callable[[ChatRequest], Awaitable[Reply]]
    takes_tools: Callable[[], bool]
    looking: Looking
    project: ProjectView
    on_look: Callable[[Look], None]

    async def answer(self) -> Answered:
        """Returns the answer. A model that looks on where it may not is asked once without tools.

        Raises what `ask` raises.
        """
        self.looking.begin_turn()
        looks: list[Look] = []
        usage = Usage()
        is_over = False
        for number in count():
            messages = self.messages(looks)
            if is_over:  # calls as text, for providers take no calls without tools
                messages = tuple(map(as_plain, messages))
            tools = () if is_over or not self.takes_tools() else self.looking.tools
            reply = await self._ask(messages, tools)
            usage += reply.usage
            calls = reply.calls or read_calls(reply.text)
            if is_over or not calls or find_edits(reply.text):  # with edits, nothing that it calls is needed any more
                whole = await self._whole(messages, tools, reply, usage)
                return replace(whole, looks=tuple(looks), messages=messages)
            is_over = self.looking.is_over
            looks += await self._look(calls[:MOST_CALLS], number, reply)
        raise AssertionError

    async def _ask(self, messages: Sequence[Message], tools: Sequence[ToolSpec], room: int = 1) -> Reply:
        request = self.build(messages, tools)
        return await self.ask(replace(request, max_tokens=room * request.max_tokens))

    async def _look(self, calls: Sequence[ToolCall], number: int, reply: Reply) -> list[Look]:
        made: list[Look] = []
        # Written calls are rendered again from their records.
        said = (reply.text if reply.calls else without_calls(reply.text))[:LONGEST]
        for call in calls:
            look = replace(await self.looking.look(call, self.project), reply=number)
            made.append(look if made else replace(look, said=said, extra=reply.extra))
            self.on_look(made[-1])
        return made

    async def _whole(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], reply: Reply, usage: Usage
    ) -> Answered:
        """The answer, with what follows where it was cut at its limit."""
        text = reply.text
        for number in range(1, MOST_CUTS + 1):
            if reply.finish != "length" or len(text) > LONGEST:
                break
            if text.strip():
                cut = (Message(role="assistant", content=text), Message(role="user", content=GO_ON))
                reply = await self._ask((*messages, *cut), tools)
            else:
                reply = await self._ask(messages, tools, MORE_ROOM**number)
            usage, text = usage + reply.usage, text + reply.text
        is_cut = reply.finish == "length" or len(text) > LONGEST
        return Answered(text=text[:LONGEST], usage=usage, model=reply.model, is_cut=is_cut)


MOST_LOOKS = 24  # of one run
MOST_IN_TURN = 8  # before one answer
MOST_SECONDS = 60.0  # of all looks of a run
LONGEST_RESULT = 24_000  # characters of one result
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
    if len(text) <= LONGEST_RESULT:
        return text
    kept = text[:LONGEST_RESULT].rpartition("\n")[0] or text[:LONGEST_RESULT]
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
