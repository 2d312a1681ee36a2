"""Google's Gemini API: contents of parts, calls and responses in pairs, signatures of thoughts.

From the reference of the API (POST models/NAME:streamGenerateContent) and the errors that it documents.
"""

from __future__ import annotations

import re

from providers._server import KEY, PROMPT, THOUGHT, WRITTEN, Answer, Refusal, StandIn, WrongRequestError, event, pieces

PARAMETERS = {
    *("contents", "tools", "toolConfig", "tool_config", "safetySettings", "safety_settings", "systemInstruction"),
    *("system_instruction", "generationConfig", "generation_config", "cachedContent"),
}
GENERATION = {
    *("temperature", "topP", "top_p", "topK", "top_k", "maxOutputTokens", "max_output_tokens", "stopSequences"),
    *("stop_sequences", "seed", "candidateCount", "thinkingConfig", "responseMimeType"),
}
SCHEMA = {
    *("type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required"),
    *("minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering"),
    *("default", "items", "minimum", "maximum"),
}
SIGNATURE = "c2lnbmF0dXJlIG9mIHRob3VnaHRz"


def wrong(message: str, code: int = 400, status: str = "INVALID_ARGUMENT", details: tuple = ()) -> WrongRequestError:
    error = {"code": code, "message": message, "status": status} | ({"details": list(details)} if details else {})
    return WrongRequestError(message, {"error": error}, code)


def field(part: dict, name: str) -> dict | None:
    """A field of a part, in either spelling that the API reads."""
    return part.get(name) or part.get(re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), name))


class GenerateContent(StandIn):
    """A model that signs its calls."""

    model = "gemini/gemini-3-flash-preview"
    paths = ("/models/{name}:streamGenerateContent",)

    def check(self, body: dict, request) -> None:
        if request.headers.get("x-goog-api-key") != KEY and request.query.get("key") != KEY:
            raise wrong("API key not valid. Please pass a valid API key.")
        if unknown := set(body) - PARAMETERS:
            raise wrong(f'Invalid JSON payload received. Unknown name "{min(unknown)}": Cannot find field.')
        config = field(body, "generationConfig") or {}
        if "frequency_penalty" in config or "frequencyPenalty" in config:
            raise wrong("Penalty is not enabled for models/gemini-3-flash-preview")
        if unknown := set(config) - GENERATION:
            raise wrong(
                f"Invalid JSON payload received. Unknown name \"{min(unknown)}\" at 'generation_config': Cannot find "
                "field."
            )
        for tool in body.get("tools", ()):
            for function in tool.get("functionDeclarations") or tool.get("function_declarations") or ():
                self.check_schema(function.get("parameters", {}), f"tools[0].function_declarations[{function['name']}]")
        self.check_contents(body["contents"])

    def check_schema(self, schema: dict, place: str) -> None:
        if unknown := set(schema) - SCHEMA:
            raise wrong(
                f"Invalid JSON payload received. Unknown name \"{min(unknown)}\" at '{place}': Cannot find field."
            )
        for name, each in schema.get("properties", {}).items():
            self.check_schema(each, f"{place}.properties[{name}]")
        if "items" in schema:
            self.check_schema(schema["items"], f"{place}.items")

    def check_contents(self, contents: list[dict]) -> None:
        calls: list[str] = []
        for number, content in enumerate(contents):
            parts = content["parts"]
            if not parts:
                raise wrong(f"* GenerateContentRequest.contents[{number}].parts: contents.parts must not be empty.")
            if content["role"] not in {"user", "model"}:
                raise wrong("Please use a valid role: user, model.")
            responses = [response["name"] for part in parts if (response := field(part, "functionResponse"))]
            if (responses or calls) and sorted(responses) != sorted(calls):
                raise wrong(
                    "Please ensure that the number of function response parts is equal to the number of function call "
                    "parts of the function call turn."
                )
            asked = [part for part in parts if field(part, "functionCall")]
            calls = [field(part, "functionCall")["name"] for part in asked]
            if calls and contents[number - 1]["role"] != "user":
                raise wrong(
                    "Please ensure that function call turn comes immediately after a user turn or after a function "
                    "response turn."
                )
            if asked and field(asked[0], "thoughtSignature") != SIGNATURE:
                raise wrong(
                    "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                    f"work correctly. Additional data, function call `default_api:{calls[0]}`, position {number + 1}."
                )

    def refuse(self, refusal: Refusal) -> tuple[int, dict, dict]:
        if refusal.kind == "limit":
            message = (
                "You exceeded your current quota, please check your plan and billing details. * Quota exceeded for "
                f"metric: generate_content_free_tier_requests, limit: 10 Please retry in {refusal.wait:g}s."
            )
            delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{refusal.wait:g}s"}
            return 429, {}, wrong(message, 429, "RESOURCE_EXHAUSTED", (delay,)).body
        if refusal.kind == "overload":
            message = "The model is overloaded. Please try again later."
            return 503, {}, wrong(message, 503, "UNAVAILABLE").body
        if refusal.kind == "key":
            reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
            return 400, {}, wrong("API key expired. Please renew the API key.", details=(reason,)).body
        message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
        return 400, {}, wrong(message).body

    def beginning(self, answer: Answer, body: dict) -> list[bytes]:
        parts: list[dict] = [{"text": piece, "thought": True} for piece in pieces(answer.thinking)]
        parts += [{"text": piece} for piece in pieces(answer.text)]
        for number, (name, arguments) in enumerate(answer.calls):
            signed = {"thoughtSignature": SIGNATURE} if not number else {}
            parts.append({"functionCall": {"name": name, "args": arguments}, **signed})
        return [event(self.candidate([part])) for part in parts]

    def ending(self, answer: Answer, body: dict) -> list[bytes]:
        thought = THOUGHT if answer.thinking else 0
        counts = {
            "promptTokenCount": PROMPT,
            "candidatesTokenCount": WRITTEN,
            "thoughtsTokenCount": thought,
            "totalTokenCount": PROMPT + WRITTEN + thought,
            "cachedContentTokenCount": answer.cached,
        }
        reason = "MAX_TOKENS" if answer.end == "cut" else "STOP"
        return [event(self.candidate([{"text": ""}], finishReason=reason) | {"usageMetadata": counts})]

    @staticmethod
    def candidate(parts: list[dict], **more) -> dict:
        content = {"role": "model", "parts": parts}
        return {"candidates": [{"index": 0, "content": content, **more}], "modelVersion": "gemini-3-flash-preview"}
