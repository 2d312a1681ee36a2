"""Which parameter a refusal names, in the words of many providers."""

from __future__ import annotations

import pytest

from greenloop.plugins.remote_models.refusals import Refusals

SENT = {
    "max_tokens": 4000,
    "temperature": 0.2,
    "stop": ["END"],
    "seed": 4,
    "frequency_penalty": 0.5,
    "stream_options": {"include_usage": True},
    "reasoning_effort": "low",
    "tools": [{}],
}
FIELDS = {"role", "content", "tool_calls", "thinking_blocks", "reasoning_content", "cache_control"}


class Refused(Exception):
    def __init__(self, message, status=400):
        super().__init__(message)
        self.status_code = status


def learned(message, status=400, sent=SENT, fields=FIELDS):
    refusals = Refusals()
    if not refusals.learn(Refused(message, status), sent, fields):
        return None
    return refusals


@pytest.mark.parametrize(
    ("message", "left_out"),
    [
        ("Unsupported value: 'temperature' does not support 0.2 with this model.", {"temperature"}),
        ("`temperature` is deprecated for this model.", {"temperature"}),
        ("`temperature` and `top_p` cannot both be specified for this model.", {"temperature"}),
        ("Unsupported parameter: 'stop' is not supported with this model.", {"stop"}),
        ("stop_sequences: each stop sequence must contain non-whitespace", {"stop"}),
        ("Argument not supported on this model: stop", {"stop"}),
        ("[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Extra inputs are not permitted'}]", {"seed"}),
        ("Unrecognized request argument supplied: seed", {"seed"}),
        ("Penalty is not enabled for models/gemini-3-flash", {"frequency_penalty"}),
        ("Model grok-4 does not support parameter presencePenalty or frequencyPenalty.", {"frequency_penalty"}),
        ("Unknown parameter: 'stream_options.include_usage'.", {"stream_options"}),
        ("property 'stream_options' is unsupported", {"stream_options"}),
        ("Unrecognized request argument supplied: reasoning_effort", {"reasoning_effort"}),
        ('"llama3.1:8b" does not support thinking', {"reasoning_effort"}),
        ("Thinking level is not supported for this model.", {"reasoning_effort"}),
        ("This model does not support the effort parameter.", {"reasoning_effort"}),
        ("`max_tokens` must be greater than `thinking.budget_tokens`.", {"reasoning_effort"}),
        ("Function tools with reasoning_effort are not supported in /v1/chat/completions.", {"reasoning_effort"}),
        ("registry.ollama.ai/library/llama2:13b does not support tools", {"tools"}),
        ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', {"tools"}),
        ("Function calling is not enabled for models/gemma-3-27b-it", {"tools"}),
        ("`tool calling` is not supported with this model", {"tools"}),
        ("deepseek-reasoner does not support Function Calling", {"tools"}),
        ("Unrecognized request argument supplied: tools", {"tools"}),
        ("Unsupported param: tools", {"tools"}),
        ("messages.3: Extra inputs are not permitted: cache_control", {"cache_control"}),
        ("Unknown parameter: 'messages[2].reasoning_content'.", {"reasoning_content"}),
        (
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
            {"thinking_blocks", "reasoning_effort"},
        ),
        (
            "messages.7.content.12: `thinking` blocks in the latest assistant message cannot be modified.",
            {"thinking_blocks", "reasoning_effort"},
        ),
        ("messages.1.content.0: Invalid `signature` in `thinking` block", {"thinking_blocks", "reasoning_effort"}),
    ],
)
def test_a_parameter_that_is_named_is_left_out(message, left_out):
    refusals = learned(message)
    assert refusals is not None
    assert refusals.left_out == left_out
    assert not set(refusals.accepted(SENT)) & left_out


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("tools param requires --jinja flag", 500),
        ("No endpoints found that support tool use", 404),
        ("function_declarations is not supported", 501),
    ],
)
def test_other_statuses_refuse_tools_as_well(message, status):
    assert learned(message, status).left_out == {"tools"}


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("An assistant message with 'tool_calls' must be followed by tool messages.", 400),
        ("Invalid parameter: messages with role 'tool' must be a response to a message with 'tool_calls'.", 400),
        ("messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.", 400),
        ("Function call is missing a thought_signature in functionCall parts.", 400),
        ("temperature is a bad thing", 400),
        ("The model `m` does not exist", 404),
        ("Unsupported parameter: 'stop' is not supported with this model.", 429),
        ("This model's maximum context length is 4096 tokens", 400),
        ("Unrecognized request argument supplied: logprobs", 400),
    ],
)
def test_what_no_parameter_changes_is_no_refusal_of_one(message, status):
    assert learned(message, status) is None


def test_what_was_not_sent_is_not_left_out():
    assert learned("Unsupported parameter: 'stop' is not supported.", sent={"max_tokens": 1}) is None


VLLM = """'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 4096 tokens
and your request has 1000 input tokens (4000 > 4096 - 1000)."""
OLDER = """This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (1000 in the messages,
4000 in the completion)."""


def test_a_limit_by_another_name_is_renamed_and_then_left_out():
    refusals = Refusals()
    refused = Refused("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.")
    assert refusals.learn(refused, SENT)
    sent = refusals.accepted(SENT)
    assert sent["max_completion_tokens"] == 4000
    assert "max_tokens" not in sent
    assert refusals.learn(Refused("Unrecognized request argument supplied: max_completion_tokens"), sent)
    assert not {"max_tokens", "max_completion_tokens"} & set(refusals.accepted(SENT))


@pytest.mark.parametrize(
    ("message", "most"),
    [
        ("max_tokens: 4000 > 3000, which is the maximum allowed number of output tokens for claude-x-20250101", 3000),
        ("max_tokens is too large: 4000. This model supports at most 2048 completion tokens.", 2048),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 3192]", 3192),
        ("`max_tokens` must be less than or equal to `3192`, the maximum value", 3192),
        (VLLM, 3096),
        (OLDER, 3096),
    ],
)
def test_a_limit_that_is_too_large_is_lowered(message, most):
    refusals = learned(message)
    assert refusals.most == most
    assert refusals.accepted(SENT)["max_tokens"] == most
    assert refusals.accepted(SENT | {"max_tokens": 100})["max_tokens"] == 100


def test_where_no_room_is_left_the_prompt_is_too_long():
    full = (
        "This model's maximum context length is 4096 tokens. However, you requested 8000 tokens (4000 in the messages"
    )
    assert learned(full) is None
