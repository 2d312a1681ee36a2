"""llama.cpp and vLLM, which speak OpenAI's protocol and refuse tools if they were started without.

From the documentation and the error messages of both.
"""

from __future__ import annotations

import json

from aiohttp import web

from providers import _completions
from providers._server import Answer, Refusal, StandIn, WrongRequestError

CONTEXT = 4096


class LlamaCpp(StandIn):
    """llama.cpp's server; `jinja`: it was started with `--jinja`, without which it takes no tools."""

    model = "openai/qwen3"
    paths = ("/v1/chat/completions",)

    def __init__(self, *script: Answer | Refusal, jinja: bool = True) -> None:
        super().__init__(*script)
        self.jinja = jinja

    def properties(self) -> dict:
        """What GET /props says."""
        return {"default_generation_settings": {"n_ctx": CONTEXT}, "chat_template": "…", "model_path": "qwen3.gguf"}

    def check(self, body: dict, request: web.Request) -> None:
        if body.get("tools") and not self.jinja:
            raise self.wrong("tools param requires --jinja flag", "server_error", 500)
        for message in body["messages"]:
            if message["role"] == "assistant" and message.get("content") is None and not message.get("tool_calls"):
                message_text = "Assistant message must contain either 'content' or 'tool_calls'!"
                raise self.wrong(message_text, "invalid_request_error", 400)
            for call in message.get("tool_calls") or ():
                try:
                    json.loads(call["function"]["arguments"])
                except ValueError:
                    raise self.wrong("Failed to parse tool call arguments as JSON", "server_error", 500) from None

    @staticmethod
    def wrong(message: str, kind: str, status: int) -> WrongRequestError:
        return WrongRequestError(message, {"error": {"code": status, "message": message, "type": kind}}, status)

    def refuse(self, refusal: Refusal) -> tuple[int, dict, dict]:
        if refusal.kind == "long":
            message = "request (6030 tokens) exceeds the available context size (4096 tokens), try increasing it"
            error = {"code": 400, "message": message, "type": "exceed_context_size_error"}
            return 400, {}, {"error": error | {"n_prompt_tokens": 6030, "n_ctx": CONTEXT}}
        if refusal.kind == "key":
            bad = self.wrong("Invalid API Key", "authentication_error", 401)
            return bad.status, {}, bad.body
        return 503, {}, self.wrong("Loading model", "unavailable_error", 503).body

    def beginning(self, answer: Answer, body: dict) -> list[bytes]:
        return _completions.beginning(answer, thinking_field="reasoning_content")

    def ending(self, answer: Answer, body: dict) -> list[bytes]:
        return _completions.ending(answer, body, thought=_completions.thought_tokens(answer))


class Vllm(LlamaCpp):
    """vLLM's server; `chooses`: it was started with `--enable-auto-tool-choice`, without which it takes no tools."""

    model = "hosted_vllm/Qwen/Qwen3-Coder"

    def __init__(self, *script: Answer | Refusal, chooses: bool = True) -> None:
        super().__init__(*script)
        self.chooses = chooses

    def properties(self) -> dict:
        return {}

    def check(self, body: dict, request: web.Request) -> None:
        if body.get("tools") and body.get("tool_choice", "auto") == "auto" and not self.chooses:
            message = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
            raise self.wrong(message, "BadRequestError", 400)
        limit = body.get("max_tokens") or body.get("max_completion_tokens") or 1
        asked = len(json.dumps(body["messages"])) // 4
        if asked + limit > CONTEXT:
            message = (
                f"'max_tokens' or 'max_completion_tokens' is too large: {limit}. This model's maximum context length is "
                f"{CONTEXT} tokens and your request has {asked} input tokens ({limit} > {CONTEXT} - {asked})."
            )
            raise self.wrong(message, "BadRequestError", 400)
        super().check(body, request)

    @staticmethod
    def wrong(message: str, kind: str, status: int) -> WrongRequestError:
        error = {"message": message, "type": kind, "param": None, "code": status}
        return WrongRequestError(message, {"error": error}, status)

    def refuse(self, refusal: Refusal) -> tuple[int, dict, dict]:
        if refusal.kind == "long":
            message = (
                "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. "
                "Please reduce the length of the input messages."
            )
            return 400, {}, self.wrong(message, "BadRequestError", 400).body
        if refusal.kind == "key":
            return 401, {}, {"error": "Unauthorized"}
        return 503, {}, self.wrong("The engine is overloaded", "ServiceUnavailable", 503).body
