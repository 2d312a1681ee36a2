"""Writes a request in the form of Ollama's own chat, and reads the answer as pieces of chat completions.

Only this form has `num_ctx`, without which Ollama silently cuts long prompts. It must not know what is asked.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import httpx

from greenloop.models.chat.completions import Connection, Fields, read_piece, send
from greenloop.plugins.remote_models.refusals import LIMIT

OPTIONS = ("temperature", "seed", "stop", "num_ctx", "repeat_penalty")
GRADED = "gpt-oss"  # the models that take a degree of thinking; others think or do not


async def stream(
    parameters: Mapping[str, Any], connection: Connection, client: httpx.AsyncClient
) -> AsyncGenerator[Fields, None]:
    """Yields the pieces of the answer; closing and errors as in `completions.stream`."""
    is_complete = False
    async with send("/api/chat", write_body(parameters), connection, client) as response:
        async for line in response.aiter_lines():
            if line.strip():
                piece = read_line(read_piece(line, response))
                is_complete = is_complete or bool(piece.choices[0].finish_reason)
                yield piece
    if not is_complete:
        raise ConnectionError("the answer ended early")


def write_body(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request with these parameters of chat completions."""
    options = {name: parameters[name] for name in OPTIONS if name in parameters}
    if LIMIT in parameters:
        options["num_predict"] = parameters[LIMIT]
    body = {
        "model": parameters["model"],
        "messages": [_write_message(message) for message in parameters["messages"]],
        "options": options,
        "stream": True,
    }
    if "tools" in parameters:
        body["tools"] = parameters["tools"]
    if effort := parameters.get("reasoning_effort"):
        body["think"] = effort if GRADED in parameters["model"] else True
    return body


def read_line(line: Fields) -> Fields:
    """A line of the answer as a piece of chat completions."""
    message = line.message or Fields()
    delta = Fields(content=message.content, reasoning_content=message.thinking, tool_calls=message.tool_calls)
    finish = ("length" if line.done_reason == "length" else "stop") if line.done else None
    counts = Fields(prompt_tokens=line.prompt_eval_count, completion_tokens=line.eval_count) if line.done else None
    return Fields(choices=[Fields(delta=delta, finish_reason=finish)], usage=counts)


def _write_message(message: Mapping[str, Any]) -> dict[str, Any]:
    written = {"role": message["role"], "content": message["content"] or ""}
    if thinking := message.get("reasoning_content"):
        written["thinking"] = thinking
    if calls := message.get("tool_calls"):
        functions = (call["function"] for call in calls)
        written["tool_calls"] = [
            {"function": {"name": each["name"], "arguments": json.loads(each["arguments"])}} for each in functions
        ]
    return written
