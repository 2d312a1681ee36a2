"""Asks a model until it answers: does the looks that it calls for, and goes on with an answer that was cut.

It must not know what the answer means.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from greenloop.core.records.attempt import Look
from greenloop.core.records.model import ChatRequest, Message, Reply, ToolCall, ToolSpec
from greenloop.core.records.usage import Usage
from greenloop.core.text.written_calls import as_plain, read_calls, without_calls
from greenloop.drafting.candidates.answers.code_blocks import find_edits
from greenloop.engine.conversation.looking import Looking
from greenloop.engine.looks._project import ProjectView

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
class Withdrawn:
    """Usage of a question whose answer no turn took: the part in the run's ledger, and the part not billed yet."""

    billed: Usage = Usage()
    pending: Usage = Usage()


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
