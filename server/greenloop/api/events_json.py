"""Writes events for programs: one JSON object a line, the interface that docs/protocol.md describes.

Fields are only ever added. Answers of models and buffers are left out; the diff is the user's own code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from greenloop.core.classify import is_of_workspace
from greenloop.core.events import (
    Checked,
    Event,
    Finished,
    Looked,
    Offered,
    Planned,
    Proposed,
    Specified,
    Started,
    Tested,
    Token,
)
from greenloop.core.feature_data import json_fields, show
from greenloop.core.records.attempt import Attempt, Look
from greenloop.core.records.model import Estimate, Quantiles, Usage
from greenloop.core.records.outcome import Evidence, Noticed, Outcome, StopReason, Verified
from greenloop.core.records.spec import Case, Region
from greenloop.core.summary import changed_regions, count_candidates
from greenloop.core.text.diff import diff_files
from greenloop.core.text.json_codec import to_json
from greenloop.wording.notes import list_notes
from greenloop.wording.outcome import describe_improvement
from greenloop_sandbox import CaseResult

MAX_MESSAGE = 2_000


def event_object(event: Event) -> dict[str, Any] | None:
    """The object for an event; None for `Token`, which is not reported, and `Finished` (see `finished_object`)."""
    match event:
        case Started():
            return _started_object(event)
        case Specified():
            return {
                "event": "specified",
                "cases": [_specified_object(case, believed=True) for case in event.spec.cases]
                + [_specified_object(case, believed=False) for case in event.spec.outvoted],
                "doubts": list(event.spec.doubts),
                "said": event.reason,
            }
        case Planned():
            draft = event.draft
            return {
                "event": "planned",
                "attempt": event.attempt,
                "parent": draft.parent,
                "move": draft.move.value,
                "role": draft.role.value,
                "label": draft.label,
                "temperature": draft.temperature,
                "model": event.model,
                "prompt_tokens": event.prompt_tokens,
            }
        case Looked():
            return {"event": "looked", "attempt": event.attempt, **_look_object(event.look)}
        case Proposed():
            return {"event": "proposed", "attempt": event.attempt, "usage": usage_object(event.usage)}
        case Checked():
            return {
                "event": "checked",
                "attempt": event.attempt,
                "error_class": event.error_class,
                "message": event.message,
            }
        case Tested():
            return {"event": "tested", **attempt_object(event.attempt)}
        case Offered():
            return finished_object(event.outcome) | {"event": "offered"}
        case Token() | Finished():
            return None


def _specified_object(case: Case, *, believed: bool) -> dict[str, Any]:
    return {
        "id": case.id,
        "path": case.path,
        "line": case.line,
        "provenance": case.provenance.value,
        "source": case.source,
        "believed": believed,
    }


def finished_object(outcome: Outcome, *, applied: bool = False) -> dict[str, Any]:
    """The last object of a run. `applied`: the result is now in the files."""
    diff = diff_files(outcome.before, outcome.after)
    return {
        "event": "finished",
        "solved": outcome.solved,
        "verified": outcome.verified.value,
        "reason": outcome.reason.value,
        "message": outcome.message,
        "attempts": count_candidates(outcome),
        "best": outcome.best,
        "diff": diff,
        "applied": applied,
        "run": outcome.run,
        "usage": usage_object(outcome.usage),
        "withdrawn": usage_object(outcome.withdrawn) if outcome.withdrawn.tokens else None,
        "notes": list(list_notes(outcome)),
        "evidence": _evidence_object(outcome.evidence),
        **_measured_objects(outcome.evidence.data, describe_improvement(outcome.evidence)),
        "remedy": "",
    }


def strength_object(report: Noticed) -> dict[str, Any]:
    """The changes that the tests would also accept; written before the `finished_object` object if requested."""
    return {
        "event": "strength",
        "tests": report.tests,
        "tried": report.tried,
        "killed": report.killed,
        "survivors": to_json(report.survivors),
        "unreached": [{"path": path, "line": line} for path, line in report.unreached],
        "left": report.left,
    }


def error_object(word: str, message: str, remedy: str = "") -> dict[str, Any]:
    """The last object of a run that failed; `reason` is the error's `word`, or `error`."""
    empty = Outcome(
        solved=False, verified=Verified.UNVERIFIED, reason=StopReason.ENVIRONMENT, message=message, attempts=()
    )
    return {**finished_object(empty), "reason": word, "remedy": remedy}


def usage_object(spent: Usage) -> dict[str, Any]:
    values: dict[str, Any] = to_json(spent)
    return values


def to_line(value: dict[str, Any]) -> str:
    """One line of pure ASCII, so that no terminal or pipe encoding can break it."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def make_writer(write: Callable[[str], object], flush: Callable[[], object]) -> Callable[[dict[str, Any]], None]:
    """A function that writes one object and flushes, so that the reader can act on it at once."""

    def put(value: dict[str, Any]) -> None:
        write(to_line(value) + "\n")
        flush()

    return put


def _started_object(event: Started) -> dict[str, Any]:
    problem = event.problem
    return {
        "event": "started",
        "run": event.run,
        "root": str(problem.root),
        "cases": [case.id for case in problem.spec.cases],
        "regions": _region_objects(problem.regions),
        "suspects": _region_objects(problem.suspects),
        "neighbours": len(problem.neighbours),
        "siblings": list(problem.siblings),
        "model": event.model,
        "kind": event.kind.value if event.kind else None,
        "preset": event.preset,
        "sandbox": event.sandbox,
        "attempts": event.attempts,
        "estimate": _estimate_object(event.estimate) if event.estimate else None,
        "baseline": attempt_object(event.baseline),
    }


def _region_objects(regions: Sequence[Region]) -> list[dict[str, Any]]:
    return [
        {
            "path": each.path,
            "name": each.qualname,
            "start": each.start,
            "end": each.end,
            "created": each.created,
            "assigns": each.assigns,
            "imports": each.imports,
        }
        for each in regions
    ]


def _estimate_object(estimate: Estimate) -> dict[str, Any]:
    def span(known: Quantiles | None) -> list[float] | None:
        return [known.low, known.likely, known.high] if known else None

    return {
        "prompt_tokens": estimate.prompt_tokens,
        "tokens": span(estimate.tokens),
        "seconds": span(estimate.seconds),
        "cost": span(estimate.cost),
        "runs": estimate.runs,
        "solved": estimate.solved,
    }


def attempt_object(attempt: Attempt) -> dict[str, Any]:
    """An attempt with its cases and what it cost; its code and the model's answer are left out."""
    verdict = attempt.verdict
    return {
        "attempt": attempt.number,
        "parent": attempt.parent,
        "model": attempt.model,
        "label": attempt.draft.label if attempt.draft else "",
        "functions": list(
            dict.fromkeys(f"{each.path}::{each.qualname}".rstrip(":") for each in changed_regions(attempt))
        ),
        "status": verdict.status.value,
        "passed": verdict.passed,
        "total": verdict.total,
        "error_class": attempt.error_class,
        "group": attempt.group.value if attempt.group else None,
        "looks": [_look_object(look) for look in attempt.looks],
        "blemishes": list(attempt.blemishes),
        "turned_green": list(verdict.turned_green),
        "still_red": list(verdict.still_red),
        "message": (attempt.finding.message if attempt.finding else verdict.reason)[:MAX_MESSAGE],
        "cases": [case_object(case) for case in verdict.cases],
        "collateral": [case_object(case) for case in verdict.collateral],
        **_measured_objects(verdict.data),
        "usage": usage_object(attempt.spent),
        "seconds": verdict.seconds,
    }


def _look_object(look: Look) -> dict[str, Any]:
    """A look of the model; its result is left out, as it may be long."""
    return {
        "tool": look.call.name,
        "arguments": look.call.arguments[:MAX_MESSAGE],
        "summary": look.summary,
        "seconds": look.seconds,
    }


def _evidence_object(evidence: Evidence) -> dict[str, Any]:
    """Its fields, with those of each feature."""
    fields = {key: value for key, value in to_json(evidence).items() if key != "data"}
    return {**fields, "gain": None, **json_fields(evidence.data)}


def _measured_objects(data: Mapping[str, Any], text: str = "") -> dict[str, Any]:
    """Measurements of features, by name, with the sentence that people are shown; `gain` is None without one."""
    measured = [shown for shown in show(data) if shown.text]
    found = {name: {"said": text or each.text, **value} for each in measured for name, value in each.fields.items()}
    return {"gain": None, **found}


def case_object(case: CaseResult) -> dict[str, Any]:
    """The result of a case, with the innermost frame of its failure."""
    failure = case.failure
    frames = failure.frames if failure else ()
    frame = next(filter(is_of_workspace, reversed(frames)), frames[-1] if frames else None)
    return {
        "id": case.id,
        "outcome": case.outcome,
        "seconds": case.seconds,
        "error_class": failure.type if failure else "",
        "message": failure.message[:MAX_MESSAGE] if failure else "",
        "path": frame.path if frame else None,
        "line": frame.line if frame else None,
    }
