"""Orders the candidates of a round before they run, where one run of the target takes long, by asking a model.

It must not know whether a candidate passes: an order saves time, and execution decides.
"""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from greenloop.core.budget import BudgetExceededError
from greenloop.core.election import WITHOUT_MODEL, is_valid
from greenloop.core.errors import ModelError
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ChatRequest, Reply
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.records.verdict import Status
from greenloop.core.text.tokens import Count
from greenloop.models.roles import apply_sampling
from greenloop.project.settings import Settings
from greenloop_lab.engine.rankers._question import order_candidates
from greenloop_lab.settings import RankerSettings


@dataclass(kw_only=True)
class Ranker:
    """The model of `ranker.model`; it is not asked again after it could not be reached.

    `excerpts` returns what its question shows besides the candidates.
    """

    settings: Settings
    ask: Callable[[ChatRequest], Awaitable[Reply]]
    count: Count
    excerpts: Callable[[], Sequence[Excerpt]] = tuple
    is_reachable: bool = True

    async def rank(
        self, problem: Problem, attempts: Sequence[Attempt], candidates: Sequence[Attempt]
    ) -> Sequence[Attempt]:
        """Returns the candidates in the order in which to run them; none where they may all run as they came.

        The first one bears the usage of the question.
        """
        ranker = self.settings.of(RankerSettings)
        slow = run_seconds(attempts) > ranker.after
        if not (ranker.model and self.is_reachable and slow and len(candidates) > 1 and not problem.spec.open):
            return ()

        async def ask(request: ChatRequest) -> Reply:
            return await self.ask(apply_sampling(self.settings, request, attempts))

        try:
            order, reply = await order_candidates(
                problem, attempts[0], candidates, ask, self.count, excerpts=self.excerpts()
            )
        except ModelError:
            self.is_reachable = False
            return ()
        except BudgetExceededError:  # the loop reaches the same limit with its next question
            return ()
        first, *others = (candidates[place] for place in order)
        return (replace(first, usage=first.usage + reply.usage), *others)


def create(
    settings: Settings,
    ask: Callable[[ChatRequest], Awaitable[Reply]],
    count: Count,
    excerpts: Callable[[], Sequence[Excerpt]],
) -> Ranker:
    return Ranker(settings=settings, ask=ask, count=count, excerpts=excerpts)


def run_seconds(attempts: Sequence[Attempt]) -> float:
    """The seconds of a usual run of the target: the median, without those that were ended."""
    seconds = [
        each.verdict.seconds
        for each in attempts
        if (each.draft is None or (is_valid(each) and each.draft.move not in WITHOUT_MODEL))
        and each.verdict.status is not Status.TIMEOUT
    ]
    return statistics.median(seconds) if seconds else 0.0
