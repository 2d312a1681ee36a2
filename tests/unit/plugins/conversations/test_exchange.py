"""One turn: looks until there is an answer, an end for those who only look, and the rest of what was cut."""

from __future__ import annotations

import pytest

from greenloop.core.records.model import ChatRequest, Message, Reply, ToolCall, Usage
from greenloop.plugins.conversations.exchange import ENOUGH, GO_ON, LONGEST, MOST_CALLS, MOST_IN_TURN, Exchange, Looking
from greenloop.plugins.conversations.messages import build_messages
from look_project import look_project

USED = Usage(prompt_tokens=10, completion_tokens=1)
EDIT = "m.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"


def call(name="read", arguments='{"path": "m.py"}', identity="c"):
    return ToolCall(id=identity, name=name, arguments=arguments)


def reply(text="", calls=(), finish="stop", extra=None):
    return Reply(text=text, usage=USED, model="m", calls=tuple(calls), finish=finish, extra=extra or {})


@pytest.fixture
def turn(tmp_path):
    """`turn(*replies)`: what came of a turn, the requests, and the looks as they were told; the last reply stays."""

    async def play(*replies, tools=True, looking=None):
        project, _asked = look_project(tmp_path, {"m.py": "a = 1\n"})
        script, requests, told = [*replies], [], []

        async def ask(request):
            requests.append(request)
            return script.pop(0) if len(script) > 1 else script[0]

        exchange = Exchange(
            messages=lambda looks: build_messages("s", "r", (), looks, plain=not tools),
            build=lambda messages, specs: ChatRequest(messages=tuple(messages), tools=tuple(specs), max_tokens=100),
            ask=ask,
            takes_tools=lambda: tools,
            looking=looking or Looking(mask=str, tokens=8000),
            project=project,
            on_look=told.append,
        )
        return await exchange.answer(), requests, told

    return play


async def test_looks_come_before_the_answer(turn):
    said = reply("Let me see.", [call(), call("fly", "{}", "d")], extra={"signature": "x"})
    answered, requests, told = await turn(said, reply(EDIT))
    assert (answered.text, answered.model, answered.is_cut) == (EDIT, "m", False)
    assert answered.looks[0].result == "m.py, lines 1-1 of 1:\na = 1"
    assert [(look.reply, look.said, look.extra) for look in answered.looks] == [
        (0, "Let me see.", {"signature": "x"}),
        (0, "", {}),
    ]
    assert tuple(told) == answered.looks
    assert answered.usage == USED + USED
    assert requests[1].messages[: len(requests[0].messages)] == requests[0].messages
    assert answered.messages == requests[-1].messages
    assert requests[0].tools == requests[1].tools != ()


async def test_without_function_calling_calls_are_read_from_the_answer(turn):
    answered, requests, _told = await turn(reply('I look.\nLOOK read {"path": "m.py"}'), reply(EDIT), tools=False)
    assert [look.call.name for look in answered.looks] == ["read"]
    assert answered.looks[0].said == "I look."
    assert requests[0].tools == ()
    assert requests[1].messages[-2:] == (
        Message(role="assistant", content='I look.\n\nLOOK read {"path": "m.py"}'),
        Message(role="user", content=answered.looks[0].result),
    )


@pytest.mark.parametrize(
    "answer", [reply(EDIT, [call("run", '{"tests": ["t.py"]}')]), reply(EDIT + 'LOOK run {"tests": ["t.py"]}')]
)
async def test_edits_end_the_turn_whatever_is_called_beside_them(turn, answer):
    answered, requests, told = await turn(answer)
    assert answered.text == answer.text
    assert (len(requests), told) == (1, [])


async def test_who_looks_on_is_told_once_and_then_asked_without_tools(turn):
    answered, requests, _told = await turn(*[reply("", [call()])] * (MOST_IN_TURN + 1), reply("I give up."))
    assert [look.result == ENOUGH for look in answered.looks] == [False] * MOST_IN_TURN + [True]
    assert answered.text == "I give up."
    assert [request.tools != () for request in requests] == [True] * (MOST_IN_TURN + 1) + [False]
    assert not any(message.calls or message.role == "tool" for message in requests[-1].messages)
    assert answered.messages == requests[-1].messages


@pytest.mark.parametrize("last", [reply("", [call()]), reply('LOOK read {"path": "m.py"}')])
async def test_who_looks_even_then_has_no_answer(turn, last):
    answered, requests, _told = await turn(last)
    assert len(requests) == MOST_IN_TURN + 2
    assert answered.text == last.text
    assert len(answered.looks) == MOST_IN_TURN + 1


async def test_a_run_without_looks_left_asks_twice(turn):
    looking = Looking(mask=str, tokens=8000, count=1000)
    answered, requests, _told = await turn(reply("", [call()]), reply(EDIT), looking=looking)
    assert (answered.text, len(requests)) == (EDIT, 2)


async def test_of_very_many_calls_the_first_ones_count(turn):
    answered, requests, _told = await turn(reply("", [call(identity=str(n)) for n in range(5000)]), reply(EDIT))
    assert len(answered.looks) == MOST_CALLS
    assert [message.role for message in requests[1].messages].count("tool") == MOST_CALLS


async def test_an_answer_that_was_cut_goes_on(turn):
    answered, requests, _told = await turn(reply(EDIT[:20], finish="length"), reply(EDIT[20:]))
    assert (answered.text, answered.is_cut) == (EDIT, False)
    assert requests[1].messages[-2:] == (
        Message(role="assistant", content=EDIT[:20]),
        Message(role="user", content=GO_ON),
    )
    assert requests[1].tools == requests[0].tools
    assert answered.usage == USED + USED


async def test_thinking_that_took_all_the_room_gets_more_of_it(turn):
    answered, requests, _told = await turn(reply("", finish="length"))
    assert [request.max_tokens for request in requests] == [100, 200, 400]
    assert (answered.text, answered.is_cut) == ("", True)


async def test_an_answer_without_end_is_cut(turn):
    answered, requests, _told = await turn(reply("x" * 10 * LONGEST, finish="length"))
    assert (len(answered.text), answered.is_cut, len(requests)) == (LONGEST, True, 1)
