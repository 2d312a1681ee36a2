"""Chat completions as OpenAI streams them, which OpenAI-compatible servers stream alike."""

from __future__ import annotations

import json

from providers._server import PROMPT, THOUGHT, WRITTEN, Answer, event, pieces


def beginning(answer: Answer, *, thinking_field: str = "") -> list[bytes]:
    """The pieces of text, thinking and calls; where there is no field for thinking, it is not shown."""
    deltas: list[dict] = [{"role": "assistant", "content": ""}]
    if thinking_field:
        deltas += [{thinking_field: piece} for piece in pieces(answer.thinking)]
    deltas += [{"content": piece} for piece in pieces(answer.text)]
    for number, (name, arguments) in enumerate(answer.calls):
        function = {"name": name, "arguments": ""}
        head = {"index": number, "id": f"call_{name}_{number}", "type": "function", "function": function}
        deltas.append({"tool_calls": [head]})
        deltas += [
            {"tool_calls": [{"index": number, "function": {"arguments": piece}}]}
            for piece in pieces(json.dumps(arguments))
        ]
    return [_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]


def ending(answer: Answer, body: dict, *, thought: int = 0) -> list[bytes]:
    """The reason of the end and, where it was asked for, what the answer took."""
    reason = "length" if answer.end == "cut" else "tool_calls" if answer.calls else "stop"
    last = [_chunk([{"index": 0, "delta": {}, "finish_reason": reason}])]
    if (body.get("stream_options") or {}).get("include_usage") and answer.reports:
        last.append(_chunk([], usage=usage(answer, thought)))
    return [*last, b"data: [DONE]\n\n"]


def usage(answer: Answer, thought: int) -> dict:
    """What an answer took; the thinking is part of it."""
    return {
        "prompt_tokens": PROMPT,
        "completion_tokens": WRITTEN + thought,
        "total_tokens": PROMPT + WRITTEN + thought,
        "prompt_tokens_details": {"cached_tokens": answer.cached},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }


def thought_tokens(answer: Answer) -> int:
    return THOUGHT if answer.thinking else 0


def _chunk(choices: list, **more) -> bytes:
    return event(
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices} | more,
    )
