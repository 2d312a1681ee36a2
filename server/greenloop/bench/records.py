"""Builds the records of a task-run: one for it, one for each attempt. Pure except for the judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from greenloop.bench.hidden_tests import NOT_RUN, Judge, Judgement
from greenloop.core.compose import compose
from greenloop.core.election import CHEAP, count_asked
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status
from greenloop.project import settings as configuration
from greenloop.project.settings import Settings

# Reasons by which a task-run has no result; the same command tries it again.
BROKEN = {StopReason.MODEL.value, StopReason.ENVIRONMENT.value, StopReason.CHANGED.value, "error"}
# Characters of an answer that are kept with its figures; the recordings have the whole answer.
MAX_MESSAGE = 4_000


async def attempt_rows(outcome: Outcome, problem: Problem | None, judge: Judge) -> list[dict[str, Any]]:
    rows = []
    for attempt in outcome.attempts:
        judgement = None
        if attempt.candidate is not None and problem is not None:
            # A candidate that fails or hangs on the shown tests is wrong; it need not be run again.
            is_cheap = attempt.verdict.status is Status.FAILED and attempt.draft and attempt.draft.move in CHEAP
            is_wrong = is_cheap or attempt.verdict.status is Status.TIMEOUT
            judgement = NOT_RUN if is_wrong else await judge(compose(problem, attempt.candidate))
        rows.append(_attempt_row(attempt, judgement))
    return rows


def _attempt_row(attempt: Attempt, judged: Judgement | None) -> dict[str, Any]:
    verdict, usage, draft = attempt.verdict, attempt.usage, attempt.draft
    return {
        "number": attempt.number,
        "parent": attempt.parent,
        "move": draft.move.value if draft else "",
        "role": draft.role.value if draft else "",
        "temperature": draft.temperature if draft else None,
        "model": attempt.model,
        "status": verdict.status.value,
        "error_class": attempt.error_class,
        "group": attempt.group.value if attempt.group else "",
        "score": round(verdict.score, 4),
        "passed": verdict.passed,
        "total": verdict.total,
        "reason": verdict.reason,
        "accepted": attempt.accepted,
        "confidence": attempt.confidence,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost": usage.cost,
        "model_seconds": round(usage.model_seconds, 3),
        "test_seconds": round(usage.test_seconds, 3),
        "right": judged.right if judged else None,
        "judge_passed": judged.passed if judged and judged.total else None,
        "judge_total": judged.total if judged and judged.total else None,
        "answer": attempt.answer[:MAX_MESSAGE],
    }


def outcome_fields(outcome: Outcome, judgement: Judgement | None, total: int) -> dict[str, Any]:
    usage = outcome.usage
    confidences = [attempt.confidence for attempt in outcome.attempts if attempt.confidence is not None]
    return {
        "right": judgement is not None and judgement.right,
        "shown_passed": outcome.solved or (judgement is not None and judgement.shown),
        "judge_passed": judgement.passed if judgement else 0,
        "judge_total": total,
        "verified": outcome.verified.value,
        "reason": outcome.reason.value,
        "message": outcome.message,
        "attempts": count_asked(outcome.attempts),
        "candidates": max(len(outcome.attempts) - 1, 0),
        "best": outcome.best,
        "at": count_asked(outcome.attempts[: (outcome.best or 0) + 1]),
        "confidence": confidences[-1] if confidences else None,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost": usage.cost,
        "model_seconds": round(usage.model_seconds, 3),
        "test_seconds": round(usage.test_seconds, 3),
    }


def empty_fields() -> dict[str, Any]:
    reason = StopReason.ENVIRONMENT
    outcome = Outcome(solved=False, verified=Verified.UNVERIFIED, reason=reason, message="", attempts=())
    return outcome_fields(outcome, None, 0) | {"overhead_seconds": 0.0}


def effective_settings(settings: Settings) -> dict[str, Any]:
    """Settings that differ from their defaults, from any source."""
    changed = {}
    for key, _kind, default, _about in configuration.keys():  # noqa: SIM118
        if (value := configuration.get(settings, key)) != default:
            changed[key] = value
    return changed


def describe_run(run: Mapping[str, Any]) -> str:
    """The result of a task-run in one line for people."""
    if run["right"]:
        text = "solved"
    elif run["shown_passed"]:
        text = f"over-fit ({run['judge_passed']}/{run['judge_total']})"
    elif run["reason"] in BROKEN:
        text = f"no result: {run['message']}"
    else:
        text = f"not solved ({run['reason']})"
    return f"{text}, {run['attempts']} attempts, {run['wall_seconds']:.1f} s"
