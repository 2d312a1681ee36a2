"""The number of slots that a server says it has, and servers that say nothing of the kind."""

import asyncio

import pytest

import openai_api
from greenloop.plugins.remote_models.waits import ServedSlots


@pytest.fixture
async def api():
    async with openai_api.serve() as server:
        yield server


async def answered(slots: ServedSlots) -> int:
    await asyncio.gather(slots._asking)
    return slots.number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ('{"total_slots": 16, "chat_template": ""}', 16),
        ('{"total_slots": 0}', 0),
        ('{"total_slots": -1}', 0),
        ('{"total_slots": "16"}', 0),
        ('{"total_slots": 1.5}', 0),
        ("{}", 0),
        ("[16]", 0),
        ("16 slots", 0),
        ("", 0),
    ],
)
async def test_a_number_is_taken_where_the_server_says_one(api, text, number):
    api.properties = openai_api.say(text)
    slots = ServedSlots()
    slots.ask(api.base)
    assert slots.number == 0, "nobody waits for the answer"
    assert await answered(slots) == number


@pytest.mark.parametrize(
    "behave",
    [None, openai_api.refuse(401, "no key"), openai_api.hang_up(), openai_api.hang_up("{")],
    ids=["no page", "refused", "hung up", "broken off"],
)
async def test_a_server_without_an_answer_says_nothing(api, behave):
    api.properties = behave
    slots = ServedSlots()
    slots.ask(api.base)
    assert await answered(slots) == 0


@pytest.mark.parametrize("base", ["", "no address", "http://127.0.0.1:0/v1", "http://[/v1"])
async def test_an_address_without_a_server_says_nothing(base):
    slots = ServedSlots()
    slots.ask(base)
    assert await answered(slots) == 0


async def test_a_silent_server_is_given_up(api):
    api.properties = openai_api.stall("{")
    slots = ServedSlots(seconds=0.05)
    slots.ask(api.base)
    assert await answered(slots) == 0


async def test_a_question_is_asked_once_with_the_key(api):
    api.properties = openai_api.say('{"total_slots": 2}')
    slots = ServedSlots()
    for _ in range(3):
        slots.ask(f"{api.base}/", "secret")
    assert await answered(slots) == 2
    (head,) = api.asked_properties
    assert "authorization: bearer secret" in [line.lower() for line in head]


async def test_closing_withdraws_the_question(api):
    api.properties = openai_api.stall()
    slots = ServedSlots()
    slots.ask(api.base)
    await api.stalled.wait()
    await slots.close()
    await api.left.wait()
    assert slots.number == 0
    await ServedSlots().close()
