"""OpenAI's chat completions: a classical model, and a reasoning model that refuses parameters.

From the reference of the API (POST /v1/chat/completions) and the errors that it documents.
"""

from __future__ import annotations

import re

from providers import _completions
from providers._server import KEY, Answer, Refusal, StandIn, WrongRequestError

PARAMETERS = {
    *("model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "temperature"),
    *("top_p", "max_completion_tokens", "max_tokens", "stop", "seed", "frequency_penalty", "presence_penalty", "n"),
    *("reasoning_effort", "response_format", "store", "user"),
}
FIELDS = {"role", "content", "name", "refusal", "tool_calls", "tool_call_id"}
LONGEST_ID = 40
MOST = 16_384  # tokens of an answer


def wrong(message: str, param: str | None = None, code: str | None = None, status: int = 400) -> WrongRequestError:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return WrongRequestError(message, {"error": error}, status)


def refuse(refusal: Refusal) -> tuple[int, dict, dict]:
    """Refusals as OpenAI words them."""
    if refusal.kind == "limit":
        message = (
            f"Rate limit reached for gpt-4o in organization org-x on requests per min (RPM): Limit 3, Used 3, Requested "
            f"1. Please try again in {refusal.wait:g}s. Visit https://platform.openai.com/account/rate-limits."
        )
        error = {"message": message, "type": "requests", "param": None, "code": "rate_limit_exceeded"}
        return 429, {"x-ratelimit-reset-requests": f"{refusal.wait:g}s"}, {"error": error}
    if refusal.kind == "overload":
        message = "The server is currently overloaded. Please try again later."
        headers = {"retry-after": f"{refusal.wait:g}"} if refusal.wait else {}
        return 503, headers, {"error": {"message": message, "type": "server_error", "param": None, "code": None}}
    if refusal.kind == "key":
        bad = wrong(f"Incorrect API key provided: {KEY[:4]}****.", code="invalid_api_key", status=401)
        return bad.status, {}, bad.body
    message = (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130031 tokens. "
        "Please reduce the length of the messages."
    )
    return 400, {}, wrong(message, "messages", "context_length_exceeded").body


def check_key(request) -> None:
    if request.headers.get("Authorization") != f"Bearer {KEY}":
        raise wrong("You didn't provide an API key.", status=401)


def check_conversation(messages: list[dict]) -> None:
    """Every call has its result directly after it, and every result its call."""
    if not messages:
        raise wrong("Invalid 'messages': empty array. Expected an array with minimum length 1.", "messages")
    waiting: list[str] = []
    for number, message in enumerate(messages):
        if message["role"] not in {"system", "developer", "user", "assistant", "tool"}:
            raise wrong(f"Invalid value: '{message['role']}'.", f"messages[{number}].role", "invalid_value")
        if unknown := set(message) - FIELDS:
            name = f"messages[{number}].{min(unknown)}"
            raise wrong(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                raise wrong(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'.",
                    f"messages.[{number}].role",
                )
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            raise wrong(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}",
                f"messages.[{number}].role",
            )
        for place, call in enumerate(message.get("tool_calls") or ()):
            if len(call["id"]) > LONGEST_ID:
                name = f"messages[{number}].tool_calls[{place}].id"
                raise wrong(
                    f"Invalid '{name}': string too long. Expected a string with maximum length {LONGEST_ID}, but got a "
                    f"string with length {len(call['id'])} instead.",
                    name,
                    "string_above_max_length",
                )
            if unknown := set(call) - {"id", "type", "function"}:
                name = f"messages[{number}].tool_calls[{place}].{min(unknown)}"
                raise wrong(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
            waiting.append(call["id"])
        if message.get("content") is None and not message.get("tool_calls"):
            raise wrong("Invalid value for 'content': expected a string, got null.", f"messages.[{number}].content")


def check_tools(tools: list[dict]) -> None:
    for number, tool in enumerate(tools):
        function = tool.get("function") or {}
        if tool.get("type") != "function" or "name" not in function:
            name = f"tools[{number}].function.name"
            raise wrong(f"Missing required parameter: '{name}'.", name, "missing_required_parameter")
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"]):
            raise wrong(f"Invalid 'tools[{number}].function.name': string does not match pattern.", "tools")
        if function.get("parameters", {}).get("type") != "object":
            raise wrong(f"Invalid schema for function '{function['name']}': schema must be of type 'object'.", "tools")


class ChatCompletions(StandIn):
    """A model without reasoning."""

    model = "openai/gpt-4o"
    paths = ("/v1/chat/completions",)

    def check(self, body: dict, request) -> None:
        check_key(request)
        if unknown := set(body) - PARAMETERS:
            raise wrong(f"Unrecognized request argument supplied: {min(unknown)}")
        self.check_parameters(body)
        check_conversation(body["messages"])
        check_tools(body.get("tools", []))

    def check_parameters(self, body: dict) -> None:
        if "reasoning_effort" in body:
            raise wrong("Unrecognized request argument supplied: reasoning_effort")
        limit = body.get("max_tokens") or body.get("max_completion_tokens") or 1
        if limit > MOST:
            raise wrong(
                f"max_tokens is too large: {limit}. This model supports at most {MOST} completion tokens, whereas you "
                f"provided {limit}.",
                "max_tokens",
                "invalid_value",
            )
        if len(body.get("stop") or ()) > 4:
            raise wrong("Invalid 'stop': array too long. Expected an array with maximum length 4.", "stop")

    def refuse(self, refusal: Refusal) -> tuple[int, dict, dict]:
        return refuse(refusal)

    def beginning(self, answer: Answer, body: dict) -> list[bytes]:
        return _completions.beginning(answer)

    def ending(self, answer: Answer, body: dict) -> list[bytes]:
        return _completions.ending(answer, body, thought=_completions.thought_tokens(answer))


class Reasoning(ChatCompletions):
    """A reasoning model, under a name that no table has yet. It shows nothing of its thinking."""

    model = "openai/gpt-next"

    def check_parameters(self, body: dict) -> None:
        if "max_tokens" in body:
            raise wrong(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
                "instead.",
                "max_tokens",
                "unsupported_parameter",
            )
        if body.get("temperature", 1) != 1:
            raise wrong(
                f"Unsupported value: 'temperature' does not support {body['temperature']:g} with this model. Only the "
                "default (1) value is supported.",
                "temperature",
                "unsupported_value",
            )
        for name in ("stop", "frequency_penalty", "presence_penalty"):
            if name in body:
                message = f"Unsupported parameter: '{name}' is not supported with this model."
                raise wrong(message, name, "unsupported_parameter")
        if body.get("reasoning_effort", "low") not in {"minimal", "low", "medium", "high"}:
            raise wrong(f"Invalid value: '{body['reasoning_effort']}'.", "reasoning_effort", "invalid_value")
