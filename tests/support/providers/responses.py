"""OpenAI's Responses API: items instead of messages, reasoning that goes back encrypted.

From the reference of the API (POST /v1/responses) and the errors that it documents.
"""

from __future__ import annotations

import json

from providers._server import PROMPT, THOUGHT, WRITTEN, Answer, Refusal, StandIn, event, pieces
from providers.openai import check_key, refuse, wrong

PARAMETERS = {
    *("model", "input", "instructions", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls"),
    *("temperature", "top_p", "max_output_tokens", "reasoning", "text", "store", "include", "metadata", "user"),
}
ENCRYPTED = "encrypted-reasoning-0"


class Responses(StandIn):
    """A reasoning model that the table has for this interface alone."""

    model = "openai/gpt-5-codex"
    paths = ("/v1/responses", "/responses")

    def check(self, body: dict, request) -> None:
        check_key(request)
        if unknown := set(body) - PARAMETERS:
            raise wrong(f"Unknown parameter: '{min(unknown)}'.", min(unknown), "unknown_parameter")
        for name in ("temperature", "top_p"):
            if name in body:
                message = f"Unsupported parameter: '{name}' is not supported with this model."
                raise wrong(message, name, "unsupported_parameter")
        if set(body.get("stream_options") or ()) - {"include_obfuscation"}:
            name = "stream_options.include_usage"
            raise wrong(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
        if body.get("max_output_tokens", 16) < 16:
            raise wrong(
                "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.",
                "max_output_tokens",
                "integer_below_min_value",
            )
        for number, tool in enumerate(body.get("tools", ())):
            if tool.get("type") != "function" or "name" not in tool:
                name = f"tools[{number}].name"
                raise wrong(f"Missing required parameter: '{name}'.", name, "missing_required_parameter")
        self.check_items(body["input"], is_stored=body.get("store", True))

    def check_items(self, items: list[dict], *, is_stored: bool) -> None:
        calls: list[str] = []
        for number, item in enumerate(items):
            kind = item.get("type", "message")
            if kind == "reasoning" and not is_stored and item.get("encrypted_content") != ENCRYPTED:
                raise wrong(
                    f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false. "
                    "Try again with `store` set to true, or remove this item from your input.",
                    "input",
                    status=404,
                )
            if kind == "reasoning" and items[number + 1 : number + 2] == []:
                raise wrong(
                    f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item.",
                    "input",
                )
            if kind == "function_call":
                calls.append(item["call_id"])
            if kind == "function_call_output":
                if item["call_id"] not in calls:
                    message = f"No tool call found for function call output with call_id {item['call_id']}."
                    raise wrong(message, "input")
                calls.remove(item["call_id"])
        if calls:
            raise wrong(f"No tool output found for function call {calls[0]}.", "input")

    def refuse(self, refusal: Refusal) -> tuple[int, dict, dict]:
        if refusal.kind == "long":
            message = "Your input exceeds the context window of this model. Please adjust your input and try again."
            return 400, {}, wrong(message, "input", "context_length_exceeded").body
        return refuse(refusal)

    def beginning(self, answer: Answer, body: dict) -> list[bytes]:
        started = {"id": "resp_1", "object": "response", "status": "in_progress", "output": [], "model": body["model"]}
        events = [{"type": "response.created", "response": started | self.facts()}]
        for number, item in enumerate(self.items(answer, body)):
            events.append({"type": "response.output_item.added", "output_index": number, "item": self.empty(item)})
            place = {"item_id": item["id"], "output_index": number}
            if item["type"] == "message":
                place |= {"content_index": 0}
                events.append({"type": "response.content_part.added", **place, "part": {"type": "output_text"}})
                kind, text = "response.output_text.delta", answer.text
            else:
                kind, text = "response.function_call_arguments.delta", item.get("arguments", "")
            events += [{"type": kind, **place, "delta": piece} for piece in pieces(text)]
            events.append({"type": "response.output_item.done", "output_index": number, "item": item})
        return [event({"sequence_number": number, **each}, each["type"]) for number, each in enumerate(events)]

    def ending(self, answer: Answer, body: dict) -> list[bytes]:
        thought = THOUGHT if answer.thinking else 0
        status = "incomplete" if answer.end == "cut" else "completed"
        response = {
            "id": "resp_1",
            "object": "response",
            "status": status,
            "model": body["model"],
            "output": self.items(answer, body),
            "incomplete_details": {"reason": "max_output_tokens"} if answer.end == "cut" else None,
            "usage": {
                "input_tokens": PROMPT,
                "input_tokens_details": {"cached_tokens": answer.cached},
                "output_tokens": WRITTEN + thought,
                "output_tokens_details": {"reasoning_tokens": thought},
                "total_tokens": PROMPT + WRITTEN + thought,
            },
        }
        last = {"type": f"response.{status}", "sequence_number": 999, "response": response | self.facts()}
        return [event(last, last["type"])]

    @staticmethod
    def facts() -> dict:
        return {"created_at": 1, "error": None, "metadata": {}, "parallel_tool_calls": True, "tools": []} | {
            "tool_choice": "auto",
            "instructions": None,
            "temperature": 1.0,
            "top_p": 1.0,
        }

    @staticmethod
    def items(answer: Answer, body: dict) -> list[dict]:
        """What the model writes: its reasoning, encrypted where that was asked for, its text, and its calls."""
        items: list[dict] = []
        if answer.thinking:
            encrypted = ENCRYPTED if "reasoning.encrypted_content" in body.get("include", ()) else None
            items.append({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": encrypted})
        if answer.text:
            content = [{"type": "output_text", "text": answer.text, "annotations": []}]
            items.append(
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
            )
        for number, (name, arguments) in enumerate(answer.calls):
            call = {"id": f"fc_{number}", "call_id": f"call_{name}_{number}", "name": name, "status": "completed"}
            items.append({"type": "function_call", **call, "arguments": json.dumps(arguments)})
        return items

    @staticmethod
    def empty(item: dict) -> dict:
        return item | ({"arguments": ""} if item["type"] == "function_call" else {})
