"""Streams of chat completions as servers really send them, and what they refuse."""

from __future__ import annotations

import json

import pytest

from answering_client import CONNECTION, serve
from greenloop.models.chat.completions import RefusedError, stream


def lines(*choices, end="data: [DONE]\n\n"):
    return "".join(f"data: {json.dumps({'choices': [choice]})}\n\n" for choice in choices) + end


@pytest.mark.parametrize("end", ["data: [DONE]\n\n", "data:[DONE]\n", ""])
async def test_an_answer_is_over_when_its_reason_has_come(end):
    client, requests = serve(
        ": ping\n\n" + lines({"delta": {"content": "ä"}}, {"delta": {}, "finish_reason": "stop"}, end=end)
    )
    first, last = [piece async for piece in stream({"model": "m"}, CONNECTION, client)]
    assert (first.choices[0].delta.content, last.choices[0].finish_reason) == ("ä", "stop")
    assert first.usage is None
    assert str(requests[0].url) == "http://127.0.0.1:1/v1/chat/completions"
    assert requests[0].headers["authorization"] == "Bearer k"


@pytest.mark.parametrize("body", [lines({"delta": {"content": "x"}}), "", "data: {broken\n\n"])
async def test_an_answer_that_breaks_off_is_a_lost_connection(body):
    client, _requests = serve(body)
    with pytest.raises(ConnectionError):
        [piece async for piece in stream({}, CONNECTION, client)]


@pytest.mark.parametrize(
    ("body", "status", "seen"),
    [
        ('{"error": {"message": "no such model", "code": "x"}}', 404, 404),
        ("<html>bad gateway</html>", 502, 502),
        ('data: {"error": {"message": "no slot", "code": 503}}\n\n', 200, 503),
        ('data: {"error": "broken"}\n\n', 200, 500),
    ],
)
async def test_a_refusal_has_its_status_wherever_it_stands(body, status, seen):
    client, _requests = serve(body, status)
    with pytest.raises(RefusedError) as caught:
        [piece async for piece in stream({}, CONNECTION, client)]
    assert caught.value.status_code == seen
    assert any(word in str(caught.value) for word in ("no such model", "bad gateway", "no slot", "broken"))
