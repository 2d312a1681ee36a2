"""The requests of turns: built with room for thinking and several edits, sent within the run's budget, and recorded.

It must not know what is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from greenloop.core.budget import ask_within_budget
from greenloop.core.records.attempt import Attempt, Sent
from greenloop.core.records.model import ChatRequest, Message, Reply, Role, ToolSpec
from greenloop.engine.model_calls import ModelCalls, template_hash
from greenloop.models.roles import apply_sampling, count_failures
from greenloop.project.settings import AnswerSettings

# Tokens of a turn's answer: thinking counts too, and below the least one a reasoning model says nothing.
TURN_ROOM, LEAST_TURN_ROOM = 8_000, 2_000


def build_request(
    calls: ModelCalls, messages: Sequence[Message], tools: Sequence[ToolSpec], *, attempts: Sequence[Attempt]
) -> ChatRequest:
    """Builds the request of a turn after these attempts."""
    calls.models.failures = count_failures(attempts)
    answer = calls.settings.answer.tokens
    room = TURN_ROOM if answer == AnswerSettings().tokens else max(answer, LEAST_TURN_ROOM)
    request = ChatRequest(
        messages=calls.redact(messages),
        role=Role.DRAFTER,
        max_tokens=room,
        tools=tuple(tools),
        patience=calls.patience(),
    )
    request = apply_sampling(calls.settings, request, attempts)
    return replace(request, max_tokens=max(request.max_tokens, LEAST_TURN_ROOM))


async def ask(calls: ModelCalls, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
    """Sends the request of a turn. Raises `BudgetExceededError` and `ModelError`."""
    return await ask_within_budget(
        calls.ledger, calls.ask, request, on_token, calls.count_tokens, least=LEAST_TURN_ROOM
    )


def record(calls: ModelCalls, messages: Sequence[Message], texts: Mapping[str, str]) -> Sent:
    """Returns what is recorded of a turn's request; `texts` are the templates by name."""
    hashes = {f"conversation/{name}": template_hash(text) for name, text in texts.items()}
    return Sent(templates=hashes, messages=tuple(messages) if calls.settings.history.messages else ())
