"""Anthropic's messages: alternating roles, pairs of calls and results, signed thinking, marks.

From the reference of the API (POST /v1/messages) and the errors that it documents.
"""

from __future__ import annotations

import json
import re

from providers._server import KEY, PROMPT, THOUGHT, WRITTEN, Answer, Refusal, StandIn, WrongRequestError, event, pieces

PARAMETERS = {
    *("model", "messages", "max_tokens", "system", "stream", "temperature", "top_p", "top_k", "stop_sequences"),
    *("tools", "tool_choice", "thinking", "metadata", "service_tier", "output_config"),
}
SIGNATURE = "signature-of-thinking"
MARKS = 4
LEAST_BUDGET = 1024


def wrong(message: str, kind: str = "invalid_request_error", status: int = 400) -> WrongRequestError:
    return WrongRequestError(message, {"type": "error", "error": {"type": kind, "message": message}}, status)


class Messages(StandIn):
    """A model that thinks where it is asked to."""

    model = "anthropic/claude-sonnet-4-5"
    paths = ("/v1/messages",)

    def check(self, body: dict, request) -> None:
        if "anthropic-version" not in request.headers:
            raise wrong("anthropic-version: header is required")
        if request.headers.get("x-api-key") != KEY:
            raise wrong("invalid x-api-key", "authentication_error", 401)
        if unknown := set(body) - PARAMETERS:
            raise wrong(f"{min(unknown)}: Extra inputs are not permitted")
        if "max_tokens" not in body:
            raise wrong("max_tokens: Field required")
        for stop in body.get("stop_sequences", ()):
            if not stop.strip():
                raise wrong("stop_sequences: each stop sequence must contain non-whitespace")
        self.check_thinking(body)
        self.check_messages(body["messages"], has_tools=bool(body.get("tools")), thinks="thinking" in body)
        for number, tool in enumerate(body.get("tools", ())):
            if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool.get("name", "")):
                raise wrong(f"tools.{number}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
            if tool.get("input_schema", {}).get("type") != "object":
                raise wrong(f"tools.{number}.custom.input_schema.type: Field required")
        if (marks := json.dumps(body).count('"cache_control"')) > MARKS:
            raise wrong(f"A maximum of {MARKS} blocks with cache_control may be provided. Found {marks}.")

    def check_thinking(self, body: dict) -> None:
        thinking = body.get("thinking")
        if not thinking:
            return
        budget = thinking.get("budget_tokens", 0)
        if budget < LEAST_BUDGET:
            raise wrong(f"thinking.enabled.budget_tokens: Input should be greater than or equal to {LEAST_BUDGET}")
        if budget >= body["max_tokens"]:
            raise wrong("`max_tokens` must be greater than `thinking.budget_tokens`.")
        if body.get("temperature", 1) != 1:
            raise wrong("`temperature` may only be set to 1 when thinking is enabled.")

    def check_messages(self, messages: list[dict], *, has_tools: bool, thinks: bool) -> None:
        if not messages or messages[0]["role"] != "user":
            raise wrong('messages: first message must use the "user" role')
        calls: list[str] = []
        for number, message in enumerate(messages):
            if number and message["role"] == messages[number - 1]["role"]:
                raise wrong('messages: roles must alternate between "user" and "assistant"')
            content = message["content"]
            blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
            for place, block in enumerate(blocks):
                if block["type"] == "text" and not block["text"].strip():
                    raise wrong("messages: text content blocks must contain non-whitespace text")
                if block["type"] == "thinking" and block.get("signature") != SIGNATURE:
                    raise wrong(f"messages.{number}.content.{place}: Invalid `signature` in `thinking` block")
            results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            missing = [call for call in calls if call not in results]
            if missing:
                raise wrong(
                    f"messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                    f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
                    "next message."
                )
            if unasked := [result for result in results if result not in calls]:
                raise wrong(
                    f"messages.{number}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {unasked[0]}."
                )
            if results and [block["type"] for block in blocks[: len(results)]] != ["tool_result"] * len(results):
                raise wrong(f"messages.{number}: `tool_result` blocks must come first in the content")
            calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
            is_last_turn = calls and number == len(messages) - 2
            if thinks and is_last_turn and blocks[0]["type"] not in {"thinking", "redacted_thinking"}:
                raise wrong(
                    f"messages.{number}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
                    f"`{blocks[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start with a "
                    "thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
                )
            thoughts = [block for block in blocks if block["type"] == "thinking"]
            if is_last_turn and thoughts and not thinks:
                raise wrong(
                    f"messages.{number}.content.0.type: When `thinking` is disabled, an `assistant` message in the final "
                    "position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request."
                )
            if calls and not has_tools:
                raise wrong("Requests which include `tool_use` or `tool_result` blocks must define tools")

    def refuse(self, refusal: Refusal) -> tuple[int, dict, dict]:
        if refusal.kind == "limit":
            message = "This request would exceed your organization's rate limit of 50 requests per minute."
            return 429, {"retry-after": f"{refusal.wait:g}"}, wrong(message, "rate_limit_error").body
        if refusal.kind == "overload":
            return 529, {}, wrong("Overloaded", "overloaded_error").body
        if refusal.kind == "key":
            return 401, {}, wrong("invalid x-api-key", "authentication_error").body
        if refusal.kind == "changed":
            message = (
                "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
                "modified. These blocks must remain as they were in the original response."
            )
            return 400, {}, wrong(message).body
        return 400, {}, wrong("prompt is too long: 215034 tokens > 200000 maximum").body

    def beginning(self, answer: Answer, body: dict) -> list[bytes]:
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
        counts = {
            "input_tokens": PROMPT - answer.cached,
            "cache_read_input_tokens": answer.cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        }
        started = message | {"stop_reason": None, "stop_sequence": None, "usage": counts}
        events: list[dict] = [{"type": "message_start", "message": started}, {"type": "ping"}]
        for number, (block, deltas) in enumerate(self.blocks(answer, body)):
            events.append({"type": "content_block_start", "index": number, "content_block": block})
            events += [{"type": "content_block_delta", "index": number, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": number})
        return [event(each, each["type"]) for each in events]

    def ending(self, answer: Answer, body: dict) -> list[bytes]:
        if answer.end == "broken":
            return [event(wrong("Overloaded", "overloaded_error").body, "error")]
        reason = "max_tokens" if answer.end == "cut" else "tool_use" if answer.calls else "end_turn"
        written = WRITTEN + (THOUGHT if answer.thinking and "thinking" in body else 0)
        last = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}}
        return [
            event(last | {"usage": {"output_tokens": written}}, "message_delta"),
            event({"type": "message_stop"}, "message_stop"),
        ]

    @staticmethod
    def blocks(answer: Answer, body: dict) -> list[tuple[dict, list[dict]]]:
        """The blocks of an answer, each with the pieces in which it comes; thinking only where it was asked for."""
        blocks: list[tuple[dict, list[dict]]] = []
        if answer.thinking and "thinking" in body:
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(answer.thinking)]
            signature = {"type": "signature_delta", "signature": SIGNATURE}
            blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]))
        if answer.text:
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(answer.text)]
            blocks.append(({"type": "text", "text": ""}, deltas))
        for number, (name, arguments) in enumerate(answer.calls):
            written = pieces(json.dumps(arguments))
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *written]]
            blocks.append(({"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}, deltas))
        return blocks
