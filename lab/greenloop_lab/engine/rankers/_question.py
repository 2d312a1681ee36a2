"""Asks a model in which order candidates are to run, before any of them did.

After CodeRanker (arXiv 2206.03865) and RankEF (arXiv 2408.13976), which train a model to predict what an execution
would say; here a model is asked without training, and execution decides as ever.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ChatRequest, Message, Reply, Role
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.text.tokens import Count, truncate
from greenloop.drafting.feedback.cases import list_cases
from greenloop.drafting.prompt import answer_of, fit
from greenloop.project.templates import part_template

TOKENS = 40  # of an answer: numbers
ROOM = 1500  # tokens of the candidates, and of the tests and what else is shown with them
_ORDER = re.compile(r"[\s\d,;.>#()\[\]]+")

Ask = Callable[[ChatRequest], Awaitable[Reply]]


async def order_candidates(
    problem: Problem,
    baseline: Attempt,
    candidates: Sequence[Attempt],
    ask: Ask,
    count: Count,
    *,
    excerpts: Sequence[Excerpt] = (),
) -> tuple[Sequence[int], Reply]:
    """The places of the candidates in the order in which to run them, and the model's reply.

    The order is unchanged where the reply cannot be read.
    """
    share = ROOM // (len(candidates) + 1)
    context = fit([excerpt for excerpt in excerpts if not excerpt.own], ROOM, count)
    shown = [
        f"{number}. {truncate(answer_of(problem, each), share, count)}" for number, each in enumerate(candidates, 1)
    ]
    text = part_template("ranker/question").substitute(
        context=context,
        failure=truncate(list_cases(problem, baseline), share, count),
        candidates="\n\n".join(shown),
        example=", ".join(str(number) for number in range(len(candidates), 0, -1)),
    )
    request = ChatRequest(messages=(Message(role="user", content=text.strip()),), role=Role.RANKER, max_tokens=TOKENS)
    reply = await ask(request)
    return read_order(reply.text, len(candidates)) or range(len(candidates)), reply


def read_order(text: str, count: int) -> Sequence[int] | None:
    """The order that an answer names, from 0; those that it does not name come last. None where it is no order."""
    rows = [row.strip() for row in text.strip().strip("`").split("\n") if row.strip()]
    if not rows or not all(_ORDER.fullmatch(row) for row in rows):
        return None
    named = [int(number) - 1 for number in re.findall(r"\d+", " ".join(rows))]
    if not named or len({*named}) < len(named) or not {*named} <= {*range(count)}:
        return None
    return [*named, *(place for place in range(count) if place not in named)]
