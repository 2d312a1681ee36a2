"""The results: one JSON line per attempt, and one per task-run after its attempts.

All lines of a task-run are written at once, its own last: one that a kill cut off counts as not done.
A later task-run of the same arm, task and repeat replaces an earlier one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop.core.compose import compose
from greenloop.core.election import CHEAP, WITHOUT_MODEL, count_asked
from greenloop.core.errors import UsageError
from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.model import Usage
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.text.diff import count_changed_lines
from greenloop.project import settings as setting_table
from greenloop.project.settings import Settings
from greenloop_lab.bench.hidden_tests import NOT_RUN, Judge, Judgement

# Reasons by which a task-run has no result; the same command tries it again.
BROKEN = {StopReason.MODEL.value, StopReason.ENVIRONMENT.value, StopReason.CHANGED.value, "error"}
# Characters of an answer that are kept with its figures; the recordings have the whole answer.
MAX_MESSAGE = 4_000
FORMAT = 1
# Types of the failures of a goal's cases.
GOAL_FAILURES = {"NotFaster", "NotSmaller", "Different"}
_BEGIN = '{"format": '
Key = tuple[str, str, int]


@dataclass(frozen=True, kw_only=True)
class TaskRunResult:
    """One task-run: its own line, and those of its attempts, baseline first."""

    run: Mapping[str, Any]
    attempts: Sequence[Mapping[str, Any]] = field(default_factory=tuple)

    @property
    def key(self) -> Key:
        return self.run["arm"], self.run["task"], self.run["repeat"]


def read(paths: Iterable[Path], *, may_be_missing: bool = False) -> list[TaskRunResult]:
    """All task-runs, in the order of their first lines. `may_be_missing`: a file need not exist yet.

    Raises `UsageError` for a file with anything else, or with results of another version.
    """
    by_key: dict[Key, TaskRunResult] = {}
    for path in paths:
        if may_be_missing and not path.exists():
            continue
        attempts: dict[Key, list[Mapping[str, Any]]] = {}
        for row in _rows(path):
            key: Key = (row["arm"], row["task"], row["repeat"])
            if row["kind"] == "attempt":
                rows = attempts.setdefault(key, [])
                if row["number"] == 0:
                    rows.clear()
                rows.append(row)
            else:
                by_key[key] = TaskRunResult(run=row, attempts=tuple(attempts.pop(key, ())))
    return list(by_key.values())


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", remedy="Name a file of results.") from error
    rows = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            if line.startswith(_BEGIN) or _BEGIN.startswith(line):
                continue  # cut off by a kill
            raise _not_results(path, number) from None
        if not isinstance(row, dict) or row.get("kind") not in {"attempt", "run"}:
            raise _not_results(path, number)
        if row.get("format") != FORMAT:
            raise UsageError(
                f"Line {number} of {path} is of format {row.get('format')}; this version reads format {FORMAT}.",
                remedy="Run the experiment again, or read the results with the version that wrote them.",
            )
        rows.append(row)
    return rows


def _not_results(path: Path, number: int) -> UsageError:
    return UsageError(f"Line {number} of {path} is not a result.", remedy="Name a file that `greenloop bench` wrote.")


def append(path: Path, done: TaskRunResult) -> None:
    """Appends a task-run; it is on disk when this returns. Raises `UsageError` where it cannot be written."""
    lines = [json.dumps({"format": FORMAT, **row}, ensure_ascii=False) for row in (*done.attempts, done.run)]
    try:
        with path.open("a+b") as file:
            end = file.seek(0, os.SEEK_END)
            if end:
                file.seek(end - 1)
                if file.read(1) != b"\n":
                    file.write(b"\n")  # end the line that was cut off
            file.write(("\n".join(lines) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", remedy="Name another file.") from error


async def attempt_rows(outcome: Outcome, problem: Problem | None, judge: Judge) -> list[dict[str, Any]]:
    rows = []
    for attempt in outcome.attempts:
        judgement = None
        if attempt.candidate is not None and problem is not None:
            # A candidate that fails or hangs on the shown tests is wrong; it need not be run again.
            is_cheap = attempt.verdict.status is Status.FAILED and attempt.draft and attempt.draft.move in CHEAP
            is_wrong = is_cheap or attempt.verdict.status is Status.TIMEOUT
            judgement = NOT_RUN if is_wrong else await judge(compose(problem, attempt.candidate))
        asked = () if problem is None or attempt.number == 0 else _regions_of(attempt, problem)
        rows.append(_attempt_row(attempt, judgement) | {"asked": sorted(map(_name_of, asked))})
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
        "looks": len(attempt.looks),
        "confidence": attempt.confidence,
        **_usage_fields(usage),
        "goal": _goal_failure(verdict),
        "limits": _limits_kept(verdict),
        "right": judged.right if judged else None,
        "judge_passed": judged.passed if judged and judged.total else None,
        "judge_total": judged.total if judged and judged.total else None,
        "answer": attempt.answer[:MAX_MESSAGE],
    }


def outcome_fields(outcome: Outcome, judgement: Judgement | None, total: int) -> dict[str, Any]:
    usage = outcome.usage
    confidences = [attempt.confidence for attempt in outcome.attempts if attempt.confidence is not None]
    before = {path: text or "" for path, text in outcome.before.items()}
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
        "looks": sum(len(attempt.looks) for attempt in outcome.attempts),
        "changed_lines": count_changed_lines(before, outcome.after),
        "blemishes": 0 if outcome.best is None else len(outcome.attempts[outcome.best].blemishes),
        "confidence": confidences[-1] if confidences else None,
        "gain": outcome.evidence.data.get("improve") if outcome.solved else None,
        **_usage_fields(usage),
    }


def _goal_failure(verdict: Verdict) -> str:
    """Returns the measurement or difference if the goal was not reached, without the costs of the lines; else ""."""
    messages = [case.failure.message for case in verdict.cases if case.failure and case.failure.type in GOAL_FAILURES]
    return messages[0].partition("\n")[0][:MAX_MESSAGE] if messages else ""


def _limits_kept(verdict: Verdict) -> list[int]:
    """Returns how many limits of `spec.constraints` the candidate keeps, of how many that were checked."""
    kept = [case.passed for case in verdict.cases if "::constraint-" in case.id]
    return [sum(kept), len(kept)]


def asked_right(outcome: Outcome, problem: Problem | None, functions: Sequence[str]) -> bool | None:
    """Was a model asked about one of these functions (`path::qualname`), or about one that contains it?

    None where there are none, or no model was asked.
    """
    asked = [each for each in outcome.attempts if each.draft and each.draft.move not in WITHOUT_MODEL]
    if not functions or problem is None or not asked:
        return None
    return any(_is_in(functions, region) for each in asked for region in _regions_of(each, problem))


def place_of(problem: Problem | None, functions: Sequence[str]) -> int | None:
    """The place, from 1, of the first of these functions among the regions and suspects of the problem; else None."""
    ranked = [*problem.regions, *problem.suspects] if problem else []
    return next((place for place, region in enumerate(ranked, 1) if _is_in(functions, region)), None)


def _is_in(functions: Sequence[str], region: Region) -> bool:
    """Is the region one of the functions (`path::qualname`), or does it contain one?"""
    name = _name_of(region)
    return any(function == name or function.startswith(f"{name}.") for function in functions)


def _name_of(region: Region) -> str:
    return f"{region.path}::{region.qualname}"


def _regions_of(attempt: Attempt, problem: Problem) -> set[Region]:
    """Returns the regions that the attempt was to change (a hole's function, or those it is about), plus those it did.

    A turn of a conversation is about every function that its report names.
    """
    draft = attempt.draft
    if draft is not None and draft.masked is not None:
        return {draft.masked.region}
    changed = set(attempt.candidate.texts) if attempt.candidate else set[Region]()
    if draft is not None and draft.move is Move.TURN:
        return {*problem.regions, *problem.suspects, *changed}
    about = draft.regions if draft else ()
    is_asked = draft is not None and draft.move not in WITHOUT_MODEL
    shown = problem.opened(about) if is_asked else problem.focused(about)
    return {*shown.regions, *changed}


def _usage_fields(usage: Usage) -> dict[str, Any]:
    return {
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
    return outcome_fields(outcome, None, 0) | {"overhead_seconds": 0.0, "asked_right": None}


def effective_settings(settings: Settings) -> dict[str, Any]:
    """Settings that differ from their defaults, from any source."""
    changed = {}
    for key, _kind, default, _about in setting_table.keys():  # noqa: SIM118
        if (value := setting_table.get(settings, key)) != default:
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
