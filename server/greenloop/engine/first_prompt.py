"""Estimates a run before it begins, by its first prompt."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.budget import count_prompt_tokens
from greenloop.core.compose import region_text
from greenloop.core.estimate import EMBEDDED, estimate_run
from greenloop.core.ports import Model
from greenloop.core.records.attempt import Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.usage import Estimate, PastRun
from greenloop.core.run_state import RunState
from greenloop.engine.model_calls import ModelCalls

SHORT_ANSWER = 60  # lower bound for the tokens of an answer, as a stub is shorter than its implementation


def first_move(state: RunState, planned: Sequence[Draft], calls: ModelCalls) -> tuple[Move, int]:
    """Returns the run's first move, and the tokens of a first full prompt, whether or not it is ever sent."""
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
    request = calls.request(state.problem.opened(()), draft, state.attempts)
    return (planned[0].move if planned else Move.DRAFT), count_prompt_tokens(request, calls.count_tokens)


def estimate_from_prompt(
    state: RunState, past: Sequence[PastRun], prompt: int, drafter: Model, answer_tokens: int
) -> Estimate:
    """Returns the estimate for a first prompt of so many tokens; an answer has at most `answer_tokens`."""
    code_tokens = sum(drafter.count_tokens(region_text(state.problem, region)) for region in state.problem.regions)
    return estimate_run(
        past,
        prompt_tokens=prompt,
        answer_tokens=min(max(code_tokens, SHORT_ANSWER), answer_tokens),
        limit=state.ledger.budget.tokens,
        speeds=EMBEDDED if drafter.name == "local" else None,
    )
