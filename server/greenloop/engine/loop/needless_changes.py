"""Takes back what an answer changed beside the fault: nobody asked for it, and no test needs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from greenloop.core.compose import compose, only_needed, region_text
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine.loop.attempt_steps import Files, with_verdict

Run = Callable[[Files], Awaitable[Verdict]]


async def without_needless(problem: Problem, attempt: Attempt, glance: Run, verify: Run) -> Attempt:
    """Returns an attempt that passes without its changes of functions and assignments that the tests pass without.

    The least suspicious go first. What was not written before stays, as its tests may be still to come, and so does
    everything where the user asked for more than the tests, or for less time.
    """
    candidate = attempt.candidate
    if attempt.draft is not None and attempt.draft.move is Move.TURN:  # what a capable model changes too has a reason
        return attempt
    if candidate is None or problem.instruction or problem.spec.open or attempt.verdict.gain:
        return attempt
    order = {region: place for place, region in enumerate((*problem.regions, *problem.suspects))}
    for region in sorted(candidate.texts, key=lambda each: -order.get(each, len(order))):
        if len(candidate.texts) == 1 or region.created or is_unwritten(region_text(problem, region)):
            continue
        kept = {each: text for each, text in candidate.texts.items() if each != region}
        smaller = only_needed(replace(candidate, texts=kept))
        files = compose(problem, smaller)
        # The short run is often the last, since most of what an answer changes is needed.
        if (await glance(files)).status is not Status.PASSED:
            continue
        verdict = await verify(files)
        if verdict.status is Status.PASSED and {*verdict.still_red} <= {*attempt.verdict.still_red}:
            attempt = with_verdict(replace(attempt, candidate=smaller), verdict)
            candidate = smaller
    return attempt
