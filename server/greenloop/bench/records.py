"""What is kept of a task-run: one record for it, one for each attempt. Pure but for the judge, who is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from greenloop import settings as configuration
from greenloop.bench.judge import WRONG, Judge, Judgement
from greenloop.core.compose import compose
from greenloop.core.loop import CHEAP, asked
from greenloop.core.nouns import Attempt, Outcome, Problem, Status, StopReason, Verified
from greenloop.settings import Settings

# A task-run that ended so is no result: the same command tries it again.
BROKEN = {StopReason.MODEL.value, StopReason.ENVIRONMENT.value, StopReason.CHANGED.value, "error"}
# Characters of an answer that are kept beside its figures; the whole of it is among the recordings.
LONGEST = 4_000


async def of_attempts(outcome: Outcome, problem: Problem | None, judge: Judge) -> list[dict[str, Any]]:
    rows = []
    for attempt in outcome.attempts:
        judged = None
        if attempt.candidate is not None and problem is not None:
            # What fails or hangs by the shown tests is wrong; it need not take the time once more.
            cheap = attempt.verdict.status is Status.FAILED and attempt.draft and attempt.draft.move in CHEAP
            known = cheap or attempt.verdict.status is Status.TIMEOUT
            judged = WRONG if known else await judge(compose(problem, attempt.candidate))
        rows.append(_attempt(attempt, judged))
    return rows


def _attempt(attempt: Attempt, judged: Judgement | None) -> dict[str, Any]:
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
        "answer": attempt.answer[:LONGEST],
    }


def of_outcome(outcome: Outcome, final: Judgement | None, total: int) -> dict[str, Any]:
    usage = outcome.usage
    sure = [attempt.confidence for attempt in outcome.attempts if attempt.confidence is not None]
    return {
        "right": final is not None and final.right,
        "shown_passed": outcome.solved or (final is not None and final.shown),
        "judge_passed": final.passed if final else 0,
        "judge_total": total,
        "verified": outcome.verified.value,
        "reason": outcome.reason.value,
        "message": outcome.message,
        "attempts": asked(outcome.attempts),
        "candidates": max(len(outcome.attempts) - 1, 0),
        "best": outcome.best,
        "at": asked(outcome.attempts[: (outcome.best or 0) + 1]),
        "confidence": sure[-1] if sure else None,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost": usage.cost,
        "model_seconds": round(usage.model_seconds, 3),
        "test_seconds": round(usage.test_seconds, 3),
    }


def nothing() -> dict[str, Any]:
    reason = StopReason.ENVIRONMENT
    blank = Outcome(solved=False, verified=Verified.UNVERIFIED, reason=reason, message="", attempts=())
    return of_outcome(blank, None, 0) | {"overhead_seconds": 0.0}


def effective(settings: Settings) -> dict[str, Any]:
    """What is not as it comes, wherever it was set."""
    found = {}
    for key, _kind, default, _about in configuration.keys():  # noqa: SIM118
        if (value := configuration.get(settings, key)) != default:
            found[key] = value
    return found


def word(run: Mapping[str, Any]) -> str:
    """One line for people."""
    if run["right"]:
        text = "solved"
    elif run["shown_passed"]:
        text = f"over-fit ({run['judge_passed']}/{run['judge_total']})"
    elif run["reason"] in BROKEN:
        text = f"came to nothing: {run['message']}"
    else:
        text = f"not solved ({run['reason']})"
    return f"{text}, {run['attempts']} attempts, {run['wall_seconds']:.1f} s"
