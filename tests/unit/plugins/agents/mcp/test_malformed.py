"""Answers to what is not a request, without a server."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from greenloop.plugins.agents.mcp.malformed import describe_arguments, describe_line, forward_messages


def read(line: str) -> SessionMessage | Exception:
    """As the SDK hands a line on."""
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError as error:
        return error


def answer(line: str) -> types.JSONRPCError | None:
    error = read(line)
    assert isinstance(error, Exception)
    return describe_line(error)


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        ("x", None, types.PARSE_ERROR),
        ('{"id": 1', None, types.PARSE_ERROR),
        ('{"id": 1, "method": "\\ud800"}', 1, types.PARSE_ERROR),
        ("[" * 100_000, None, types.PARSE_ERROR),
        ("[]", None, types.INVALID_REQUEST),
        ("null", None, types.INVALID_REQUEST),
        ('{"id": true, "method": 1}', None, types.INVALID_REQUEST),
        ('{"id": "a", "method": "b", "params": 7}', "a", types.INVALID_REQUEST),
        ('{"jsonrpc": "2.0", "id": 1, "method": 7, "params": {}}', 1, types.INVALID_REQUEST),
    ],
)
def test_the_answer_has_the_requests_number_where_there_is_one(line, number, code):
    error = answer(line)
    assert error is not None
    assert (error.id, error.error.code) == (number, code)
    assert error.error.message.startswith("The message is not ")


@pytest.mark.parametrize("line", ["", "  ", '{"jsonrpc": "2.0", "id": 1, "result": 7}', '{"id": 1, "error": {}}'])
def test_empty_lines_and_wrong_responses_have_no_answer(line):
    assert answer(line) is None


async def test_messages_pass_and_the_end_is_passed_on():
    async def lines() -> Any:
        for line in ("x", '{"jsonrpc": "2.0", "id": 1, "method": "ping"}', ""):
            yield read(line)

    answers: list[SessionMessage] = []

    async def answer_with(message: SessionMessage) -> None:
        answers.append(message)

    messages, received = anyio.create_memory_object_stream[SessionMessage | Exception](2)
    await forward_messages(lines(), messages, answer_with)
    passed = [item async for item in received]
    assert [item.message.method for item in passed if isinstance(item, SessionMessage)] == ["ping"]
    assert len(passed) == len(answers) == 1


def test_wrong_arguments_are_one_sentence():
    class Arguments(BaseModel):
        model_config = ConfigDict(extra="forbid")
        seconds: float = Field(0.0, ge=0)
        names: list[str] = []

    with pytest.raises(ValidationError) as caught:
        Arguments.model_validate({"seconds": -1, "name": 2, "names": [1, 2, 3, 4]})
    told = describe_arguments("look", Arguments.model_fields, caught.value)
    assert told == (
        "The arguments of look are wrong: there is no name (but seconds, names); "
        "seconds: input should be greater than or equal to 0; names.0: input should be a valid string."
    )
