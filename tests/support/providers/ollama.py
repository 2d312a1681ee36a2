"""Ollama's chat (POST /api/chat): lines of JSON, calls as objects, errors for missing abilities.

From the documentation of its API and the errors of its server.
"""

from __future__ import annotations

import json

from providers._server import PROMPT, THOUGHT, WRITTEN, Answer, Refusal, StandIn, WrongRequestError, pieces

PARAMETERS = {"model", "messages", "tools", "think", "format", "options", "stream", "keep_alive"}


class Chat(StandIn):
    """A model that takes tools and thinks, as `capabilities` say (the answer of /api/show)."""

    model = "ollama/qwen3"
    paths = ("/api/chat", "/api/show")
    content_type = "application/x-ndjson"

    def __init__(self, *script: Answer | Refusal, capabilities: tuple[str, ...] = ("tools", "thinking")) -> None:
        super().__init__(*script)
        self.capabilities = ("completion", *capabilities)

    async def handle(self, request):
        from aiohttp import web

        if request.path == "/api/show":
            return web.json_response({"capabilities": list(self.capabilities), "model_info": {}, "details": {}})
        return await super().handle(request)

    def check(self, body: dict, request) -> None:
        if unknown := set(body) - PARAMETERS:
            raise self.wrong(f"unknown field {min(unknown)}")
        if body.get("tools") and "tools" not in self.capabilities:
            raise self.wrong(f"registry.ollama.ai/library/{body['model']}:latest does not support tools")
        if body.get("think") and "thinking" not in self.capabilities:
            raise self.wrong(f'"{body["model"]}" does not support thinking')
        for message in body["messages"]:
            for call in message.get("tool_calls") or ():
                if not isinstance(call["function"]["arguments"], dict):
                    raise self.wrong(
                        "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function."
                        "arguments of type api.ToolCallFunctionArguments"
                    )

    @staticmethod
    def wrong(message: str, status: int = 400) -> WrongRequestError:
        return WrongRequestError(message, {"error": message}, status)

    def refuse(self, refusal: Refusal) -> tuple[int, dict, dict]:
        if refusal.kind == "long":
            message = "the input length exceeds the context length"
            return 400, {}, {"error": message}
        if refusal.kind == "key":
            return 401, {}, {"error": "unauthorized"}
        return 503, {}, {"error": "server busy, please try again.  maximum pending requests exceeded"}

    def beginning(self, answer: Answer, body: dict) -> list[bytes]:
        messages: list[dict] = [{"content": "", "thinking": piece} for piece in pieces(answer.thinking)]
        messages += [{"content": piece} for piece in pieces(answer.text)]
        messages += [
            {"content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}
            for name, arguments in answer.calls
        ]
        return [self.line(body, message) for message in messages]

    def ending(self, answer: Answer, body: dict) -> list[bytes]:
        reason = "length" if answer.end == "cut" else "stop"
        written = WRITTEN + (THOUGHT if answer.thinking else 0)
        counts = {"prompt_eval_count": PROMPT, "eval_count": written}
        return [self.line(body, {"content": ""}, done=True, done_reason=reason, **counts)]

    @staticmethod
    def line(body: dict, message: dict, *, done: bool = False, **more) -> bytes:
        facts = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z", "done": done}
        return json.dumps(facts | {"message": {"role": "assistant", **message}} | more).encode() + b"\n"
