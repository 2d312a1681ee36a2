"""The functions that a run gives to its loop, by which the loop knows no model, sandbox or strategy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from greenloop.core import registry
from greenloop.core.budget import Request
from greenloop.core.election import Election, elect_nearest
from greenloop.core.events import Event
from greenloop.core.records.attempt import Attempt, Draft, FeedbackNote, Finding, Sent
from greenloop.core.records.model import Reply
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Verdict
from greenloop.engine.model_calls import ModelCalls
from greenloop.verdict.case_runs import Files

Converse = Callable[[int, Draft, Problem, Sequence[Attempt], Callable[[Event], None]], Awaitable[Attempt]]

Elect = Callable[[Problem, Sequence[Attempt], bool], Awaitable[Election]]

Rank = Callable[[Problem, Sequence[Attempt], Sequence[Attempt]], Awaitable[Sequence[Attempt]]]


async def keep_order(
    _problem: Problem, _attempts: Sequence[Attempt], _candidates: Sequence[Attempt]
) -> Sequence[Attempt]:
    """Ranks nothing: all candidates run as they came."""
    return ()


async def _prepare_nothing(_problem: Problem) -> None:
    pass


def load_rank(calls: ModelCalls) -> Rank:
    """Orders candidates by a model, where the laboratory, whose part this is, is installed."""
    if not registry.has_part("rankers", "model"):
        return keep_order
    excerpts = lambda: next(iter(calls.excerpts.values()), ())  # noqa: E731
    module = registry.load_part("rankers", "model")
    rank: Rank = module.create(calls.settings, calls.ask_for_part, calls.count_tokens, excerpts).rank
    return rank


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Functions of a run. `verify` tests a candidate; `accept` tests it again in a fresh sandbox, with all proofs.

    `glance` is `verify` with a shorter limit, for hundreds of candidates.
    `again` builds a shorter question after an answer that could not be read, or returns None.
    `prepare` gathers the context of a problem's regions, before the first question about them.
    `sent` returns what is recorded of a request.
    `elect` selects the attempts for `accept` after each round and at the end.
    `stops_copies`: an answer that repeats the user's function ends at once, unless it is to be corrected further down.
    `rank` orders candidates that were not run, where not all of them are to be run.
    `converse` asks for the next turn of the conversation. `has_question`: a question was sent ahead, so of several
    one-token changes that pass none is taken;
    `has_answer`: it has its answer, so that nothing else need be tried.
    """

    plan: Callable[[Problem, Sequence[Attempt]], Sequence[Draft]]
    assemble: Callable[[Problem, Draft, Sequence[Attempt]], Request]
    ask: Callable[[Request, Callable[[str], None]], Awaitable[Reply]]
    verify: Callable[[Files], Awaitable[Verdict]]
    glance: Callable[[Files], Awaitable[Verdict]]
    accept: Callable[[Files], Awaitable[Verdict]]
    describe: Callable[[Problem, Sequence[Attempt]], Awaitable[tuple[FeedbackNote, ...]]]
    model_of: Callable[[Draft], str]
    count: Callable[[str], int]
    again: Callable[[Problem, Request, Reply, Finding], Request | None] = lambda *_question: None
    elect: Elect = elect_nearest
    prepare: Callable[[Problem], Awaitable[None]] = _prepare_nothing
    stops_copies: bool = True
    sent: Callable[..., Sent | None] = lambda *_question, **_options: None
    rank: Rank = keep_order
    converse: Converse | None = None
    has_question: Callable[[], bool] = lambda: False
    has_answer: Callable[[], bool] = lambda: False
