"""The books of a run: no call is made that could pass a limit, whatever is under way at the same time."""

from __future__ import annotations

import asyncio

import pytest

from greenloop.core.budget import BudgetExceededError, Ledger, ask_within_budget
from greenloop.core.records.model import Budget, ChatRequest, Message, Reply, Usage
from greenloop.core.records.outcome import StopReason


def request(text: str = "x" * 100, wanted: int = 500) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), max_tokens=wanted)


def test_an_answer_may_be_as_long_as_the_limit_leaves():
    ledger = Ledger(Budget(tokens=300))
    assert ledger.reserve(100, 500).answer_tokens == 200


def test_what_is_under_way_is_held():
    ledger = Ledger(Budget(tokens=300))
    ledger.reserve(100, 100)
    with pytest.raises(BudgetExceededError) as caught:
        ledger.reserve(100, 100)
    assert caught.value.reason is StopReason.TOKENS


def test_what_was_held_and_not_used_is_free_again():
    ledger = Ledger(Budget(tokens=300))
    held = ledger.reserve(100, 100)
    ledger.settle(held, Usage(prompt_tokens=90, completion_tokens=10))
    assert ledger.reserve(100, 500).answer_tokens == 100


def test_money_is_not_overspent():
    ledger = Ledger(Budget(cost=1.0), price=lambda prompt, completion: (prompt + completion) / 1000)
    held = ledger.reserve(300, 300)
    with pytest.raises(BudgetExceededError) as caught:
        ledger.reserve(300, 300, least=150)
    assert caught.value.reason is StopReason.COST
    ledger.settle(held, Usage(prompt_tokens=300, completion_tokens=100, cost=0.4))
    assert ledger.reserve(300, 300).answer_tokens == 300


def test_an_answer_may_be_as_long_as_the_money_allows():
    ledger = Ledger(Budget(cost=1.0), price=lambda prompt, completion: (prompt + completion) / 1000)
    assert ledger.reserve(300, 1600, least=200).answer_tokens == 400
    with pytest.raises(BudgetExceededError):
        ledger.reserve(200, 1600, least=200)


async def test_side_by_side_calls_stay_below_the_limit():
    ledger = Ledger(Budget(tokens=1000))

    async def ask(asked, _on_token):
        await asyncio.sleep(0)
        return Reply(
            text="", usage=Usage(prompt_tokens=100, completion_tokens=asked.max_tokens), model="m", finish="length"
        )

    calls = [ask_within_budget(ledger, ask, request(), lambda _text: None, len) for _ in range(5)]
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [isinstance(result, Reply) for result in results] == [True, True, False, False, False]
    assert ledger.used.tokens <= 1000


async def test_a_call_that_fails_costs_what_it_cost():
    ledger = Ledger(Budget(tokens=1000))

    async def ask(_asked, _on_token):
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await ask_within_budget(ledger, ask, request(), lambda _text: None, len)
    assert ledger.reserve(100, 5000).answer_tokens == 900


def test_a_price_that_becomes_known_meanwhile_frees_no_money():
    price: float | None = None
    ledger = Ledger(Budget(cost=1.0), price=lambda _prompt, _completion: price)
    held = ledger.reserve(100, 100)
    price = 0.5
    ledger.settle(held, Usage(cost=0.4))
    ledger.reserve(100, 100)
    with pytest.raises(BudgetExceededError):
        ledger.reserve(100, 100)


async def test_a_call_that_does_not_fit_beside_others_waits_for_them_and_is_not_cut():
    ledger = Ledger(Budget(tokens=1500))
    granted = []

    async def ask(asked, _on_token):
        granted.append(asked.max_tokens)
        await asyncio.sleep(0)
        return Reply(text="", usage=Usage(prompt_tokens=100, completion_tokens=50), model="m", finish="stop")

    calls = [ask_within_budget(ledger, ask, request(), lambda _text: None, len) for _ in range(5)]
    assert all(isinstance(result, Reply) for result in await asyncio.gather(*calls))
    assert granted == [request().max_tokens] * 5
