"""A run's diagnostics: each failing case of the shown attempt at its line, and a summary."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case
from greenloop.core.records.verdict import CaseResult, Failure, Frame, Status
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.documents import line_mapping, locations
from greenloop.lsp.presenters import case_diagnostics, notifications, refusals
from greenloop.lsp.presenters.attempt_line import line_of
from greenloop.lsp.presenters.attempt_positions import Lines
from greenloop.lsp.runs import attempt_texts
from greenloop.lsp.runs.apply_edit import text_of
from greenloop.lsp.runs.runs import Phase, Run

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Maximum failing cases of an attempt with a diagnostic.
MOST = 100


def publish(server: Server, run: Run) -> None:
    """Shows that a run is queued, why it was refused, or the shown attempt's failing cases and the summary."""
    by_path: dict[Path, list[lsp.Diagnostic]] = defaultdict(list)
    # A run that was discarded meanwhile shows nothing.
    for path, item in _items(server, run) if run in server.runs else ():
        by_path[path].append(item)
    server.board.put(run, dict(by_path))


def _items(server: Server, run: Run) -> list[tuple[Path, lsp.Diagnostic]]:
    attempt = run.shown
    if run.started is not None and attempt is not None:
        solved = not run.running and run.outcome is not None and run.outcome.solved
        if solved and run.stepped is None:
            return []
        return [*_cases(server, run, run.started.problem, attempt), *_summary(server, run, attempt)]
    is_queued = run.phase is Phase.QUEUED and run.ahead
    note = ("refining", f"Refining {run.name}: {run.now}") if is_queued else refusals.of(run)
    return _noted(server, run, note) if note is not None else []


def _noted(server: Server, run: Run, note: tuple[str, str]) -> list[tuple[Path, lsp.Diagnostic]]:
    target_range = _name(server, run)
    return [] if target_range is None else [(run.root / run.target.path, refusals.diagnostic(target_range, *note))]


# -- the failing cases ------------------------------------------------------------------------------------------


def _cases(server: Server, run: Run, problem: Problem, attempt: Attempt) -> list[tuple[Path, lsp.Diagnostic]]:
    positions = Lines(server, run.root, problem, attempt)
    # A test that the user removed from its file is no longer shown.
    reported = run.told
    own_cases = [case for case in problem.spec.cases if case.id in reported and positions.has(case)]
    if attempt.verdict.status is Status.TAMPERED:
        # The results of single cases cannot be trusted after tampering, which is shown once.
        return [item for case in own_cases[:1] for item in _case(server, run, attempt, case, None, positions)]
    results = {result.id: result for result in attempt.verdict.cases}
    # Cases that were outvoted say nothing about the attempt.
    outvoted = {case.id for case in run.spec.outvoted} if run.spec else set()
    relevant = [each for each in own_cases if each.id not in outvoted and (each.executed or each.id in results)]
    results_by_case = [(each, results.get(each.id)) for each in relevant]
    results_by_case += [
        (Case(id=result.id, path=result.id.split("::")[0], line=1), result) for result in attempt.verdict.collateral
    ]
    failing = [(case, result) for case, result in results_by_case if result is None or not result.passed]
    return [item for case, result in failing[:MOST] for item in _case(server, run, attempt, case, result, positions)]


def _case(
    server: Server, run: Run, attempt: Attempt, case: Case, result: CaseResult | None, lines: Lines
) -> list[tuple[Path, lsp.Diagnostic]]:
    """The case's diagnostic; none where it has no line left in any file."""
    failure = result.failure if result else None
    frames = [frame for frame in (failure.frames if failure else ()) if _inside(server, run, frame)]
    path, line = _place(case, frames, lines)
    if not line:
        return []
    outcome = result.outcome if result else attempt.verdict.status.value
    error_name = failure.type.rsplit(".", 1)[-1] if failure else attempt.error_class or outcome
    message = f"{case.source or case.id.split('::')[-1]}: {_why(attempt, failure, error_name)}"
    if frames and not lines.ran(frames[-1].path, frames[-1].line):
        message += f"\nat {_of_attempt(run, frames[-1], attempt)}"
    item = lsp.Diagnostic(
        range=case_diagnostics.range_of(server, run.root / path, line),
        message=message,
        severity=lsp.DiagnosticSeverity.Error if case.binding else lsp.DiagnosticSeverity.Warning,
        code=error_name,
        source=f"greenloop attempt {attempt.number}/{run.limit}",
    )
    if server.abilities.related_information and frames:
        related = [_related(server, run, attempt, frame, lines) for frame in frames]
        item.related_information = [information for information in related if information is not None]
    return [(run.root / path, item)]


def _why(attempt: Attempt, failure: Failure | None, found: str) -> str:
    if failure is None:
        return clean_for_display(f"{found}: {attempt.verdict.reason}" if attempt.verdict.reason else found)[
            : case_diagnostics.LONGEST
        ]
    return case_diagnostics.why(failure, found)


def _place(case: Case, frames: list[Frame], lines: Lines) -> tuple[str, int]:
    """The failure's deepest line in the user's own text, else the case's own line, else the nearest line."""
    for frame in reversed(frames):
        if line := lines.ran(frame.path, frame.line):
            return frame.path, line
    if line := lines.now(case.path, case.line):
        return case.path, line
    for frame in reversed(frames):
        if line := lines.nearest(frame.path, frame.line):
            return frame.path, line
    return case.path, 0


def _inside(server: Server, run: Run, frame: Frame) -> bool:
    return case_diagnostics.inside(run.root, frame) or server.documents.book_at(run.root / frame.path) is not None


def _of_attempt(run: Run, frame: Frame, attempt: Attempt) -> str:
    text = f"attempt {attempt.number}" if attempt.number else "your code as it was"
    return clean_for_display(f"{attempt_texts.spelled(run, attempt, frame.path, frame.line)} of {text}")


def _related(
    server: Server, run: Run, attempt: Attempt, frame: Frame, lines: Lines
) -> lsp.DiagnosticRelatedInformation | None:
    line, note, path = lines.ran(frame.path, frame.line), frame.function, run.root / frame.path
    if not line:
        line, note = lines.nearest(frame.path, frame.line), f"{note} ({_of_attempt(run, frame, attempt)})"
    if not line:
        return None
    location = server.documents.location(path, case_diagnostics.range_of(server, path, line))
    return lsp.DiagnosticRelatedInformation(location=location, message=clean_for_display(note))


# -- the summary ------------------------------------------------------------------------------------------------


def _summary(server: Server, run: Run, attempt: Attempt) -> list[tuple[Path, lsp.Diagnostic]]:
    path, where = run.root / run.target.path, _name(server, run)
    if where is None:
        return []
    item = _headed(run, attempt, where)
    rows = [line_of(attempt) for attempt in run.attempts]
    rows += [f"in doubt: {clean_for_display(doubt)}" for doubt in (run.spec.doubts if run.spec else ())]
    if server.abilities.related_information:
        location = server.documents.location(path, where)
        item.related_information = [lsp.DiagnosticRelatedInformation(location=location, message=row) for row in rows]
    else:
        item.message = "\n".join([item.message, *rows])
    return [(path, item)]


def _headed(run: Run, attempt: Attempt, where: lsp.Range) -> lsp.Diagnostic:
    severity, code = lsp.DiagnosticSeverity.Information, "refining"
    outcome, head = run.outcome, f"Refining {run.name}"
    if not run.running and outcome is not None and outcome.solved:
        code, head = "solved", f"{run.name} is solved"
    elif not run.running:
        why = outcome.message if outcome is not None else run.refused
        head = notifications.not_solved(run.name, clean_for_display(why))
        if outcome is not None and outcome.reason not in notifications.OUTSIDE:
            severity, code = lsp.DiagnosticSeverity.Warning, "unsolved"
        else:
            code = outcome.reason.value if outcome is not None else run.refusal or "unsolved"
    if run.stepped is not None:
        head += f" ({'your code' if not attempt.number else f'attempt {attempt.number}'} is shown)"
    return lsp.Diagnostic(
        range=where, message=head, severity=severity, source="greenloop", code=code, data={"summary": True}
    )


def _name(server: Server, run: Run) -> lsp.Range | None:
    """The current range of the target's name; None where it no longer exists."""
    path, target = run.root / run.target.path, run.target
    if not target.qualname:
        # The requested target was never found: its file is the closest location.
        return case_diagnostics.range_of(server, path, 1)
    current_target = locations.named(server, run.root, target.selector)
    if current_target is not None:
        return case_diagnostics.range_of(server, path, current_target.name_line)
    # During an edit the target may not parse: the range shown first has moved with the typed text.
    rows = line_mapping.rows(text_of(server, path) or "")
    was = (old.range for old in server.board.at(path, run) if old.source == "greenloop")
    return next((target_range for target_range in was if run.name in rows[target_range.start.line]), None)
