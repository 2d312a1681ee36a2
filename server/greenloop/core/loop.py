"""The loop: draft, read, check, execute, describe, and let search decide, until solved or a limit holds.

Execution decides: an attempt counts only when `verify` and then `accept` say passed.
A failing test, an unparsable answer and a timeout are data; only `GreenloopError` and cancellation leave.
It must not know which model, sandbox or strategy it drives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from greenloop.core.answer import read
from greenloop.core.classify import classify, finding_group
from greenloop.core.compose import compose
from greenloop.core.events import Checked, Event, Planned, Proposed, Started, Tested, Token
from greenloop.core.gate import check
from greenloop.core.nouns import (
    Attempt,
    Budget,
    Candidate,
    Completion,
    Draft,
    Finding,
    Note,
    Outcome,
    Problem,
    Reply,
    Status,
    StopReason,
    Usage,
    Verdict,
    Verified,
)

Files = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a run is made of. `verify` tests a candidate; `accept` does it again in a fresh sandbox, with all proofs."""

    plan: Callable[[Problem, Sequence[Attempt]], Sequence[Draft]]
    assemble: Callable[[Problem, Draft, Sequence[Attempt]], Completion]
    ask: Callable[[Completion, Callable[[str], None]], Awaitable[Reply]]
    verify: Callable[[Files], Awaitable[Verdict]]
    accept: Callable[[Files], Awaitable[Verdict]]
    describe: Callable[[Problem, Sequence[Attempt]], Awaitable[tuple[Note, ...]]]
    model_of: Callable[[Draft], str]
    count: Callable[[str], int]


async def refine(
    problem: Problem, started: Started, parts: Parts, budget: Budget, emit: Callable[[Event], None]
) -> Outcome:
    """Runs until solved, stalled or out of budget; the best attempt is never replaced by a worse one."""
    emit(started)
    attempts = [started.baseline]
    reason = StopReason.SECONDS
    try:
        async with asyncio.timeout(budget.seconds):
            reason = await _rounds(problem, attempts, parts, budget, emit)
    except TimeoutError:
        pass
    top = best(attempts)
    return Outcome(
        solved=reason is StopReason.SOLVED,
        verified=Verified.UNVERIFIED,
        reason=reason,
        message="",
        attempts=tuple(attempts),
        best=top.number if top else None,
        usage=spent(attempts),
    )


async def _rounds(
    problem: Problem, attempts: list[Attempt], parts: Parts, budget: Budget, emit: Callable[[Event], None]
) -> StopReason:
    while drafts := parts.plan(problem, attempts):
        for draft in drafts:
            if limit := exceeded(attempts, budget):
                return limit
            attempt = await _attempt(problem, draft, attempts, parts, emit)
            attempt = replace(attempt, notes=await parts.describe(problem, [*attempts, attempt]))
            attempts.append(attempt)
            emit(Tested(attempt=attempt))
            if attempt.verdict.status is Status.PASSED:
                return StopReason.SOLVED
            if any(note.stop for note in attempt.notes):
                return StopReason.STALLED
    return exceeded(attempts, budget) or StopReason.STALLED


async def _attempt(
    problem: Problem, draft: Draft, attempts: Sequence[Attempt], parts: Parts, emit: Callable[[Event], None]
) -> Attempt:
    number = len(attempts)
    prompt = parts.assemble(problem, draft, attempts)
    size = sum(parts.count(message.content) for message in prompt.messages)
    emit(Planned(attempt=number, draft=draft, model=parts.model_of(draft), prompt_tokens=size))
    written = 0

    def on_token(text: str) -> None:
        nonlocal written
        written += 1
        emit(Token(attempt=number, text=text, count=written))

    reply = await parts.ask(prompt, on_token)
    emit(Proposed(attempt=number, answer=reply.text, usage=reply.usage))
    blank = Attempt(
        number=number,
        parent=draft.parent,
        draft=draft,
        model=reply.model,
        answer=reply.text,
        usage=reply.usage,
        verdict=Verdict(status=Status.REFUSED),
    )
    candidate = read(reply.text, problem, truncated=reply.finish == "length")
    if isinstance(candidate, Finding):
        return _refused(blank, candidate, emit)
    files = compose(problem, candidate)
    blank = replace(blank, candidate=candidate)
    if finding := check(problem, candidate, files, parent=attempts[draft.parent].candidate):
        return _refused(blank, finding, emit)
    emit(Checked(attempt=number, error_class="", message=""))
    return await _tested(blank, candidate, files, parts)


def _refused(attempt: Attempt, finding: Finding, emit: Callable[[Event], None]) -> Attempt:
    emit(Checked(attempt=attempt.number, error_class=finding.error_class, message=finding.message))
    verdict = replace(attempt.verdict, reason=finding.message)
    return replace(
        attempt, verdict=verdict, finding=finding, error_class=finding.error_class, group=finding_group(finding)
    )


async def _tested(attempt: Attempt, candidate: Candidate, files: Files, parts: Parts) -> Attempt:
    verdict = await parts.verify(files)
    seconds = verdict.seconds
    if verdict.status is Status.PASSED:
        verdict = await parts.accept(files)
        seconds += verdict.seconds
    error_class, group, _line = classify(verdict)
    usage = replace(attempt.usage, test_seconds=seconds)
    return replace(attempt, candidate=candidate, verdict=verdict, error_class=error_class, group=group, usage=usage)


def best(attempts: Sequence[Attempt]) -> Attempt | None:
    """The attempt with the highest score, fewest newly failing neighbours, earliest; only tested candidates count."""
    tested = [attempt for attempt in attempts if attempt.candidate and attempt.verdict.status is not Status.REFUSED]
    honest = [attempt for attempt in tested if attempt.verdict.status is not Status.TAMPERED]
    return max(
        honest,
        key=lambda attempt: (
            attempt.verdict.status is Status.PASSED,
            attempt.verdict.score,
            -len(attempt.verdict.collateral),
            -attempt.number,
        ),
        default=None,
    )


def spent(attempts: Sequence[Attempt]) -> Usage:
    return sum((attempt.usage for attempt in attempts), Usage())


def exceeded(attempts: Sequence[Attempt], budget: Budget) -> StopReason | None:
    """The limit that holds, if any; checked in one place, before every model call."""
    usage = spent(attempts)
    if len(attempts) > budget.attempts:
        return StopReason.ATTEMPTS
    if usage.tokens >= budget.tokens:
        return StopReason.TOKENS
    if budget.cost and usage.cost is not None and usage.cost >= budget.cost:
        return StopReason.COST
    return None
