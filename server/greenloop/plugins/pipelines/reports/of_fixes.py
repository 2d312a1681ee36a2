"""Annotations of fixed and unfixed tests: results with their changes, errors of the attempts, suspicious lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from greenloop.cli import render
from greenloop.cli.outputs import Fix
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.verdict import Status
from greenloop.core.text.diff import first_changed_line
from greenloop.plugins.pipelines.reports.annotations import Annotation, Level, annotate_open, find_test
from greenloop.wording.attempt import first_failure

MAX_LINES = 5  # suspicious lines of one test
MAX_MESSAGE = 2_000


def annotate_fix(fix: Fix, root: Path) -> list[Annotation]:
    """The result or the lack of one, the suspicious lines, and the error of each attempt."""
    return [*_result(fix, root), *_suspicious_lines(fix), *_attempts(fix)]


def _result(fix: Fix, root: Path) -> Iterator[Annotation]:
    outcome = fix.outcome
    if outcome is not None and outcome.solved and outcome.reason is not StopReason.ALREADY_GREEN:
        changes = {path: (outcome.before.get(path), text) for path, text in outcome.after.items()}
        path = next((path for path, (before, after) in changes.items() if before != after), "")
        before, after = changes.get(path, (None, ""))
        yield Annotation(
            rule="fixed",
            level=Level.NOTE if fix.passes else Level.WARNING,
            message=f"{fix.target}: {fix.message}",
            path=path,
            line=first_changed_line(before, after) if path else 0,
            case=fix.target,
            changes=changes,
        )
        yield from annotate_open(outcome.evidence.data)
    elif not fix.passes:
        path, line = find_test(root, fix.target)
        yield Annotation(
            rule="not-fixed",
            level=Level.ERROR,
            message=f"{fix.target}: {fix.message}" if fix.target else fix.message,
            path=path if line else "",
            line=line,
            case=fix.target,
        )


def _suspicious_lines(fix: Fix) -> Iterator[Annotation]:
    """The lines with the highest scores among those of the suspected functions."""
    if fix.problem is None or (fix.outcome is not None and fix.outcome.solved):
        return
    suspects = (*fix.problem.regions, *fix.problem.suspects)
    scores = {
        (score, region.path, line, region.label)
        for region in suspects
        for line, score in fix.problem.suspicion.get(region.path, {}).items()
        if region.start <= line <= region.end and score > 0
    }
    for score, path, line, name in sorted(scores, key=lambda each: (-each[0], each[1], each[2]))[:MAX_LINES]:
        message = f"A line of {name} that {fix.target} executes; suspicion {score:.2f} of 1."
        yield Annotation(
            rule="suspicious-line", level=Level.WARNING, message=message, path=path, line=line, case=fix.target
        )


def _attempts(fix: Fix) -> Iterator[Annotation]:
    if fix.outcome is None:
        return
    region = fix.problem.regions[0] if fix.problem is not None and fix.problem.regions else None
    for attempt in fix.outcome.attempts:
        if not attempt.number or attempt.verdict.status is Status.PASSED:
            continue
        tampered = attempt.verdict.status is Status.TAMPERED
        yield Annotation(
            rule="attempt-tampered" if tampered else "attempt-failed",
            level=Level.WARNING if tampered else Level.NOTE,
            message=f"Attempt {attempt.number} for {fix.target}: {_error(attempt)}"[:MAX_MESSAGE],
            path=region.path if region else "",
            line=region.start if region else 0,
            end_line=region.end if region else 0,
            case=fix.target,
        )


def _error(attempt: Attempt) -> str:
    """The class of the error, where it was, and what the failing test says."""
    failing = first_failure(attempt)
    said = failing.failure.message if failing is not None and failing.failure is not None else ""
    if attempt.verdict.status is Status.TAMPERED:
        said = ""  # its reason is shown already
    if attempt.finding is not None:
        said = attempt.finding.message
    error = render.attempt_error(attempt) or attempt.verdict.status.value
    return f"{error}: {render.first_line(said, 400)}" if said else error
