"""A run's diagnostics: each failing case of the shown attempt at its line, and a summary, or why it could not begin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types as lsp

from greenloop.core.errors import GreenloopError
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance
from greenloop.core.records.verdict import Status
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.documents import line_mapping, locations
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters import case_diagnostics, notifications
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.presenters.notifications import end_message
from greenloop.lsp.state import attempt_texts
from greenloop.lsp.state.run import Phase, Run
from greenloop.wording.attempt import attempt_line
from greenloop_sandbox import CaseResult, Failure, Frame

# Maximum failing cases of an attempt with a diagnostic.
MOST = 100


class RunDiagnostics:
    """The diagnostics of runs. `runs` are those that still exist: a discarded one shows nothing."""

    def __init__(self, editor: Editor, store: DiagnosticsStore, runs: Iterable[Run]) -> None:
        self._client, self._documents = editor.client, editor.documents
        self._store, self._runs = store, runs

    def publish(self, run: Run) -> None:
        """Shows that a run is queued, why it was refused, or the shown attempt's failing cases and the summary."""
        by_path: dict[Path, list[lsp.Diagnostic]] = defaultdict(list)
        for path, item in self._items(run) if run in self._runs else ():
            by_path[path].append(item)
        self._store.put(run, dict(by_path))

    def remove(self, run: Run) -> None:
        self._store.put(run, {})

    def remove_dropped(self) -> None:
        """Removes the diagnostics of runs that were dropped from the list, which could not be discarded otherwise."""
        current_runs = set(self._runs)
        self._store.remove_owners(lambda owner: isinstance(owner, Run) and owner not in current_runs)

    def _items(self, run: Run) -> list[tuple[Path, lsp.Diagnostic]]:
        attempt = run.shown_attempt
        if run.started is not None and attempt is not None:
            is_solved = not run.running and run.outcome is not None and run.outcome.solved
            if is_solved and run.view.chosen_attempt is None:
                return []
            return [*self._cases(run, run.started.problem, attempt), *self._summary(run, attempt)]
        is_queued = run.phase is Phase.QUEUED and run.runs_ahead
        note = ("refining", f"{notifications.activity(run)}: {run.progress.status}") if is_queued else refusal_of(run)
        name_range = self._name_range(run) if note is not None else None
        if note is None or name_range is None:
            return []
        return [(run.root / run.target.path, refusal_diagnostic(name_range, *note))]

    # -- the failing cases ------------------------------------------------------------------------------------------

    def _cases(self, run: Run, problem: Problem, attempt: Attempt) -> list[tuple[Path, lsp.Diagnostic]]:
        lines = case_diagnostics.AttemptLines(self._documents, run.root, problem, attempt)
        # A test that the user removed from its file is no longer shown.
        shown_cases = run.shown_cases
        own_cases = [case for case in problem.spec.cases if case.id in shown_cases and lines.still_has(case)]
        if attempt.verdict.status is Status.TAMPERED:
            # The results of single cases cannot be trusted after tampering, which is shown once.
            return [item for case in own_cases[:1] for item in self._case(run, attempt, case, None, lines)]
        results = {result.id: result for result in attempt.verdict.cases}
        # Cases that were outvoted say nothing about the attempt.
        outvoted = {case.id for case in run.spec.outvoted} if run.spec else set()
        relevant = [each for each in own_cases if each.id not in outvoted and (each.executed or each.id in results)]
        results_by_case = [(each, results.get(each.id)) for each in relevant]
        results_by_case += [
            (Case(id=result.id, path=result.id.split("::")[0], line=1), result) for result in attempt.verdict.collateral
        ]
        failing = [(case, result) for case, result in results_by_case if result is None or not result.passed]
        return [item for case, result in failing[:MOST] for item in self._case(run, attempt, case, result, lines)]

    def _case(
        self, run: Run, attempt: Attempt, case: Case, result: CaseResult | None, lines: case_diagnostics.AttemptLines
    ) -> list[tuple[Path, lsp.Diagnostic]]:
        """The case's diagnostic; none where it has no line left in any file."""
        failure = result.failure if result else None
        frames = [frame for frame in (failure.frames if failure else ()) if self._is_own(run, frame)]
        path, line = _line_of_case(case, frames, lines)
        if not line:
            return []
        outcome = result.outcome if result else attempt.verdict.status.value
        error_name = case_diagnostics.error_name(failure) if failure else attempt.error_class or outcome
        message = f"{case.source or case.id.split('::')[-1]}: {_describe(attempt, failure, error_name)}"
        if frames and not lines.line_of_attempt(frames[-1].path, frames[-1].line):
            message += f"\nat {_line_name(run, frames[-1], attempt)}"
        item = lsp.Diagnostic(
            range=case_diagnostics.current_range(self._documents, run.root / path, line),
            message=message,
            severity=_severity(case),
            code=error_name,
            source=f"greenloop attempt {attempt.number}/{run.limit}",
        )
        if self._client.capabilities.related_information and frames:
            related = [self._related_information(run, attempt, frame, lines) for frame in frames]
            item.related_information = [information for information in related if information is not None]
        return [(run.root / path, item)]

    def _is_own(self, run: Run, frame: Frame) -> bool:
        path = run.root / frame.path
        return case_diagnostics.is_own_frame(run.root, frame) or self._documents.composites.at(path) is not None

    def _related_information(
        self, run: Run, attempt: Attempt, frame: Frame, lines: case_diagnostics.AttemptLines
    ) -> lsp.DiagnosticRelatedInformation | None:
        line, note = lines.line_of_attempt(frame.path, frame.line), frame.function
        path = run.root / frame.path
        if not line:
            line = lines.nearest_line(frame.path, frame.line)
            note = f"{note} ({_line_name(run, frame, attempt)})"
        if not line:
            return None
        return case_diagnostics.related(self._documents, path, line, note)

    # -- the summary ------------------------------------------------------------------------------------------------

    def _summary(self, run: Run, attempt: Attempt) -> list[tuple[Path, lsp.Diagnostic]]:
        path, name_range = run.root / run.target.path, self._name_range(run)
        if name_range is None:
            return []
        item = _headline(run, attempt, name_range)
        rows = [attempt_line(attempt) for attempt in run.attempts]
        rows += [f"in doubt: {clean_for_display(doubt)}" for doubt in (run.spec.doubts if run.spec else ())]
        if self._client.capabilities.related_information:
            location = self._documents.location(path, name_range)
            item.related_information = [
                lsp.DiagnosticRelatedInformation(location=location, message=row) for row in rows
            ]
        else:
            item.message = "\n".join([item.message, *rows])
        return [(path, item)]

    def _name_range(self, run: Run) -> lsp.Range | None:
        """The current range of the target's name; None where it no longer exists."""
        path, target = run.root / run.target.path, run.target
        if not target.qualname:
            # The requested target was never found: its file is the closest location.
            return case_diagnostics.current_range(self._documents, path, 1)
        current_target = locations.find_target(self._documents, run.root, target.selector)
        if current_target is not None:
            return case_diagnostics.current_range(self._documents, path, current_target.name_line)
        # During an edit the target may not parse: the range shown first has moved with the typed text.
        rows = line_mapping.split_rows(self._documents.text(path) or "")
        shown_ranges = (item.range for item in self._store.items(path, run) if item.source == "greenloop")
        return next((name_range for name_range in shown_ranges if run.name in rows[name_range.start.line]), None)


def _severity(case: Case) -> lsp.DiagnosticSeverity:
    """Error for what must hold; nothing is wrong with code that misses its goal."""
    if case.provenance is Provenance.GOAL:
        return lsp.DiagnosticSeverity.Information
    return lsp.DiagnosticSeverity.Error if case.binding else lsp.DiagnosticSeverity.Warning


def _describe(attempt: Attempt, failure: Failure | None, error_name: str) -> str:
    if failure is not None:
        return case_diagnostics.describe_failure(failure, error_name)
    reason = attempt.verdict.reason
    return clean_for_display(f"{error_name}: {reason}" if reason else error_name)[: case_diagnostics.LONGEST]


def _line_of_case(case: Case, frames: list[Frame], lines: case_diagnostics.AttemptLines) -> tuple[str, int]:
    """The failure's deepest line in the user's own text, else the case's own line, else the nearest line."""
    for frame in reversed(frames):
        if line := lines.line_of_attempt(frame.path, frame.line):
            return frame.path, line
    if line := lines.current_line(case.path, case.line):
        return case.path, line
    for frame in reversed(frames):
        if line := lines.nearest_line(frame.path, frame.line):
            return frame.path, line
    return case.path, 0


def _line_name(run: Run, frame: Frame, attempt: Attempt) -> str:
    text = f"attempt {attempt.number}" if attempt.number else "your code as it was"
    return clean_for_display(f"{attempt_texts.line_name(run, attempt, frame.path, frame.line)} of {text}")


def _headline(run: Run, attempt: Attempt, name_range: lsp.Range) -> lsp.Diagnostic:
    severity, code = lsp.DiagnosticSeverity.Information, "refining"
    outcome, head = run.outcome, notifications.activity(run)
    if not run.running and outcome is not None and outcome.solved:
        code, head = "solved", f"{run.name} is {notifications.wanted_end(run)}"
    elif not run.running:
        reason = outcome.message if outcome is not None else run.result.refusal
        head = notifications.not_solved_text(run.name, clean_for_display(reason), wanted=notifications.wanted_end(run))
        if outcome is not None and outcome.reason not in notifications.OUTSIDE:
            # Code that could not be improved is as right as before.
            is_right = run.request.aim is not None
            severity = lsp.DiagnosticSeverity.Information if is_right else lsp.DiagnosticSeverity.Warning
            code = "unsolved"
        else:
            code = outcome.reason.value if outcome is not None else run.result.refusal_code or "unsolved"
    if run.view.chosen_attempt is not None:
        head += f" ({'your code' if not attempt.number else f'attempt {attempt.number}'} is shown)"
    return lsp.Diagnostic(
        range=name_range, message=head, severity=severity, source="greenloop", code=code, data={"summary": True}
    )


@dataclass(frozen=True, kw_only=True)
class RefusedRequest:
    """Owner of the diagnostics of requests that never became a run."""

    path: Path


def refusal_of(run: Run) -> tuple[str, str] | None:
    """The code and message of a run's refusal; None where it is in progress or began its attempts."""
    if run.running or run.started is not None:
        return None
    if run.result.refusal:
        return run.result.refusal_code, run.result.refusal
    if run.outcome is not None:
        return run.outcome.reason.value, end_message(run, run.outcome, None)
    return None


def refusal_diagnostic(where: lsp.Range, code: str, message: str) -> lsp.Diagnostic:
    severity = lsp.DiagnosticSeverity.Information
    return lsp.Diagnostic(
        range=where, message=clean_for_display(message), severity=severity, source="greenloop", code=code
    )


class RequestErrors:
    """The refused requests of each file, at most one."""

    def __init__(self, store: DiagnosticsStore, documents: Documents) -> None:
        self._store, self._documents = store, documents

    def show(self, uri: str, row: int, error: GreenloopError) -> None:
        """Shows why a request for a row (0-based) of a document was refused; replaces the file's earlier refusal."""
        located = self._documents.file_of(uri)
        text = self._documents.text(located[0]) if located else None
        if located is None or text is None:
            return
        path, lines_before = located
        file = locations.ProjectFile(root=path.parent, path=path.name, text=text, lines_before=lines_before)
        target = locations.target_at(file, file.line(row))
        line = target.name_line if target else file.line(row)
        span = line_range(line, text, self._documents.position_codec)
        self._store.put(RefusedRequest(path=path), {path: [refusal_diagnostic(span, error.kind, error.advice)]})

    def clear(self, uri: str | None) -> None:
        """Removes the refused requests shown in a document; without one, in all documents."""
        located = self._documents.file_of(uri) if uri is not None else None
        if uri is None or located is not None:
            self._store.remove_owners(
                lambda owner: isinstance(owner, RefusedRequest) and (located is None or owner.path == located[0])
            )
