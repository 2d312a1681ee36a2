"""Puts a streamed answer together: text, calls of tools, thinking, and numbers of tokens, read or estimated.

It must not know how the answer was asked for, nor prices.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from greenloop.core.records.model import ToolCall, Usage
from greenloop.core.text.tokens import estimate_tokens
from greenloop.plugins.remote_models.messages import PROVIDER

OPENED, CLOSED = "<think>", "</think>"
SIGNED = "__thought__"  # after which litellm repeats a signature in the id of a call


@dataclass(kw_only=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True)
class StreamedAnswer:
    """The answer so far. `on_token` gets the pieces of its text as they come.

    `finish` is the reason of its end; `counts` are the tokens that were reported.
    """

    provider: str
    on_token: Callable[[str], None]
    finish: str = ""
    counts: Any = None
    _text: list[str] = field(default_factory=list)
    _thinking: list[str] = field(default_factory=list)
    _calls: list[_Call] = field(default_factory=list)
    _at: dict[int, _Call] = field(default_factory=dict)  # the open call of each index
    _held: str | None = ""  # the beginning of the text, as long as it may be thinking; None: it was looked at
    _blocks: list[dict[str, Any]] = field(default_factory=list)
    _fields: dict[str, list[Any]] = field(default_factory=dict)

    def add(self, chunk: Any) -> None:
        """Adds a piece of the stream."""
        self.counts = getattr(chunk, "usage", None) or self.counts
        for choice in (chunk.choices or ())[:1]:
            self.finish = choice.finish_reason or self.finish
            delta = choice.delta
            thinking = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
            self._thinking.append(thinking if isinstance(thinking, str) else "")
            for block in getattr(delta, "thinking_blocks", None) or ():
                self._add_block(dict(block))
            for item in getattr(delta, "reasoning_items", None) or ():
                self._fields.setdefault("reasoning_items", []).append(_as_dict(item))
            signatures = (getattr(delta, "provider_specific_fields", None) or {}).get("thought_signatures")
            self._fields.setdefault("thought_signatures", []).extend(signatures or ())
            for piece in getattr(delta, "tool_calls", None) or ():
                self._add_call(piece)
            if delta.content:
                self._add_text(delta.content)

    def end(self) -> None:
        """Decides about a text that was held back: it is thinking that did not end, or the whole text."""
        held, self._held = self._held or "", None
        if held.lstrip().startswith(OPENED):
            self._thinking.append(held.lstrip().removeprefix(OPENED))
        else:
            self._pass_on(held)

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        return "".join(self._thinking)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls, each with an id of its own."""
        named = [call for call in self._calls if call.name]
        calls: list[ToolCall] = []
        for number, call in enumerate(named):
            is_unique = call.id and all(call.id != earlier.id for earlier in calls)
            extra = {PROVIDER: self.provider, "provider_specific_fields": call.fields} if call.fields else {}
            # Some providers want nine letters or digits.
            given = call.id if is_unique else f"call{number:05}"
            calls.append(ToolCall(id=given, name=call.name, arguments=call.arguments, extra=extra))
        return tuple(calls)

    @property
    def extra(self) -> Mapping[str, Any]:
        """The data that goes back to the provider with this answer."""
        returned: dict[str, Any] = {}
        signatures, items = self._fields.get("thought_signatures"), self._fields.get("reasoning_items")
        if signatures:
            returned["provider_specific_fields"] = {"thought_signatures": signatures}
        elif self._blocks:
            returned["thinking_blocks"] = self._blocks
        elif items:
            returned["reasoning_items"] = items
        elif (thinking := self.thinking) and self._calls:
            # Unsigned thinking belongs to the turn in which tools are called, and to no later one.
            returned["reasoning_content"] = thinking
        return {PROVIDER: self.provider, **returned} if returned else {}

    @property
    def written_tokens(self) -> int:
        """An estimate of the tokens that the model wrote, its thinking and calls among them."""
        calls = sum(estimate_tokens(call.name + call.arguments) for call in self._calls)
        return estimate_tokens(self.text) + estimate_tokens(self.thinking) + calls

    def _add_text(self, piece: str) -> None:
        if self._held is None:
            self._pass_on(piece)
            return
        self._held += piece
        start = self._held.lstrip()
        if start.startswith(OPENED):
            thought, closed, rest = start.removeprefix(OPENED).partition(CLOSED)
            if closed:
                self._thinking.append(thought)
                self._held = None
                self._pass_on(rest.lstrip("\n"))
        elif not OPENED.startswith(start):
            held, self._held = self._held, None
            self._pass_on(held)

    def _pass_on(self, piece: str) -> None:
        if piece:
            self._text.append(piece)
            self.on_token(piece)

    def _add_block(self, block: dict[str, Any]) -> None:
        """Adds a piece of a block of thinking, which ends with its signature."""
        last = self._blocks[-1] if self._blocks else {}
        if block.get("type") == "thinking" == last.get("type") and "signature" not in last:
            last["thinking"] += block.get("thinking", "")
            last.update({name: value for name, value in block.items() if name not in {"type", "thinking"}})
        else:
            self._blocks.append(block)

    def _add_call(self, piece: Any) -> None:
        function = piece.function
        call_id = (piece.id or "").partition(SIGNED)[0]
        index = piece.index or 0
        call = self._at.get(index)
        if call is None or _is_another(call, call_id, function.name or ""):
            call = self._at[index] = _Call()
            self._calls.append(call)
        call.id = call.id or call_id
        call.name = call.name or function.name or ""
        arguments = function.arguments
        call.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""
        call.fields |= getattr(piece, "provider_specific_fields", None) or {}


def _is_another(call: _Call, call_id: str, name: str) -> bool:
    """Is a piece the beginning of another call? Not every provider numbers its calls, or gives each an id."""
    return call_id != call.id if call_id and call.id else bool(name and call.name)


def _as_dict(item: Any) -> dict[str, Any]:
    return dict(item) if isinstance(item, Mapping) else dict(item.model_dump())


def read_usage(counts: Any, *, prompt_estimate: int, answer_estimate: int) -> Usage:
    """The tokens that the provider reported; estimates where it reported none."""
    answer = _number(counts, "completion_tokens")
    reasoning = _number(getattr(counts, "completion_tokens_details", None), "reasoning_tokens")
    if reasoning > answer:  # a provider that does not count its reasoning as part of the answer
        answer += reasoning
    return Usage(
        prompt_tokens=_number(counts, "prompt_tokens") or prompt_estimate,
        completion_tokens=answer or answer_estimate,
        cached_tokens=_number(getattr(counts, "prompt_tokens_details", None), "cached_tokens")
        or _number(counts, "cache_read_input_tokens")
        or _number(counts, "prompt_cache_hit_tokens"),
        cost=None,
    )


def _number(counts: Any, name: str) -> int:
    number = getattr(counts, name, None)
    return number if isinstance(number, int) else 0
