"""The form of Ollama's own chat."""

from __future__ import annotations

import json

from answering_client import CONNECTION, serve
from greenloop.plugins.remote_models.ollama import stream


async def test_ollama_gets_its_own_form_and_its_answer_is_read():
    answer = [
        {"message": {"content": "", "thinking": "hm"}},
        {"message": {"content": "x"}},
        {"message": {}, "done": True, "done_reason": "length", "prompt_eval_count": 3, "eval_count": 4},
    ]
    client, requests = serve("".join(json.dumps(each) + "\n" for each in answer))
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "hm"},
        {"role": "tool", "tool_call_id": "a", "content": "2"},
    ]
    options = {"temperature": 0.5, "num_ctx": 4096, "max_tokens": 9, "repeat_penalty": 1.25}
    parameters = {"model": "m", "messages": messages, "reasoning_effort": "low", "stream_options": {}, **options}
    thinking, text, last = [piece async for piece in stream(parameters, CONNECTION, client)]
    assert thinking.choices[0].delta.reasoning_content == "hm"
    assert text.choices[0].delta.content == "x"
    assert (last.choices[0].finish_reason, last.usage.prompt_tokens, last.usage.completion_tokens) == ("length", 3, 4)
    assert json.loads(requests[0].content) == {
        "model": "m",
        "messages": [
            {
                "role": "assistant",
                "content": "",
                "thinking": "hm",
                "tool_calls": [{"function": {"name": "f", "arguments": {"n": 1}}}],
            },
            {"role": "tool", "content": "2"},
        ],
        "options": {"temperature": 0.5, "num_ctx": 4096, "repeat_penalty": 1.25, "num_predict": 9},
        "stream": True,
        "think": True,
    }
