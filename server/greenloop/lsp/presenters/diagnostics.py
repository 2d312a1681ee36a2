"""Diagnostics: each failing case of the newest attempt at its line in the user's file, and one line an attempt.

They are pushed, never pulled; they move with what the user types; one store holds what every file shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
from lsprotocol import types as lsp

from greenloop.core.diff import flat
from greenloop.core.nouns import Attempt, Case, CaseResult, Failure, Frame, Problem, Status
from greenloop.core.redact import clean
from greenloop.lsp.convert import Line, line_range, old_line
from greenloop.lsp.edits import text_of
from greenloop.lsp.runs import Run

if TYPE_CHECKING:
    from greenloop.lsp.documents import Shift
    from greenloop.lsp.server import Server

# Characters of a runner's message that a diagnostic shows.
LONGEST = 1200

# From (path, line as an attempt ran it) to the user's line, 0 where there is none.
Find = Callable[[str, int], int]


class Board:
    """What each file shows, by path and owner (a run, a check of tests, …); the only place that publishes.

    Ranges count in the file's whole text, whichever documents it consists of.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._shown: dict[Path, dict[Hashable, list[lsp.Diagnostic]]] = defaultdict(dict)

    def put(self, owner: Hashable, by_path: Mapping[Path, Sequence[lsp.Diagnostic]]) -> None:
        """Replaces everything that an owner shows."""
        home = self._server.documents.home
        merged: dict[Path, list[lsp.Diagnostic]] = defaultdict(list)
        for path, items in by_path.items():
            merged[home(path)] += items
        by_path = merged
        touched = set(by_path) | {path for path, owners in self._shown.items() if owner in owners}
        for path in touched:
            if by_path.get(path):
                self._shown[path][owner] = list(by_path[path])
            else:
                self._shown[path].pop(owner, None)
            self._publish(path)
        self._shown = defaultdict(dict, {path: owners for path, owners in self._shown.items() if owners})

    def at(self, path: Path, owner: Hashable) -> list[lsp.Diagnostic]:
        return self._shown.get(self._server.documents.home(path), {}).get(owner, [])

    def shift(self, path: Path, shift: Shift) -> None:
        """Moves what a file shows; the editor moves its own copy, so nothing is published for that."""
        for owner, items in self._shown.get(path, {}).items():
            self._shown[path][owner] = [attrs.evolve(item, range=_moved(item.range, shift)) for item in items]

    def move(self, path: Path, moved: Callable[[int], int | None]) -> None:
        """Moves what a notebook shows with its cells; what was shown in a cell that is gone goes as well."""
        owners = self._shown.get(path, {})
        for owner, items in owners.items():
            kept = [(item, row) for item in items if (row := moved(item.range.start.line)) is not None]
            owners[owner] = [attrs.evolve(item, range=_from(item.range, row)) for item, row in kept]
        if owners:
            self._publish(path)

    def again(self, path: Path) -> None:
        """Publishes a file's diagnostics once more (it was opened anew)."""
        if path in self._shown:
            self._publish(path)

    def _publish(self, path: Path) -> None:
        items = [item for items in self._shown[path].values() for item in items]
        by_uri: dict[str, list[lsp.Diagnostic]] = {uri: [] for uri, _first in self._server.documents.parts(path)}
        for item in items:
            place = self._server.documents.location(path, item.range)
            # The cells of a notebook that was closed show nothing.
            if place.uri in by_uri:
                by_uri[place.uri].append(attrs.evolve(item, range=place.range))
        for uri, own in by_uri.items():
            self._server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=uri, diagnostics=own))


def _from(where: lsp.Range, row: int) -> lsp.Range:
    """The range, beginning in another row."""
    lower = row - where.start.line
    start, end = (lsp.Position(line=at.line + lower, character=at.character) for at in (where.start, where.end))
    return lsp.Range(start=start, end=end)


def publish(server: Server, run: Run) -> None:
    """Shows the state of a run: its newest attempt's failing cases and the summary at the target's name."""
    if run.started is None or (not run.running and run.outcome is not None and run.outcome.solved):
        server.board.put(run, {})
        return
    shown: dict[Path, list[lsp.Diagnostic]] = defaultdict(list)
    newest = run.attempts[-1]
    for path, item in _cases(server, run, run.started.problem, newest):
        shown[path].append(item)
    shown[run.root / run.target.path].append(_summary(server, run))
    server.board.put(run, dict(shown))


def _cases(server: Server, run: Run, problem: Problem, attempt: Attempt) -> list[tuple[Path, lsp.Diagnostic]]:
    here = _line_finder(server, run, problem, attempt)
    if attempt.verdict.status is Status.TAMPERED:
        # What such a run says about single cases is worth nothing; that it lies is shown once.
        return [_case(server, run, case, None, here) for case in problem.spec.cases[:1]]
    results = {result.id: result for result in attempt.verdict.cases}
    # What the votes went against says nothing of the attempt.
    lost = {case.id for case in run.spec.outvoted} if run.spec else set()
    cases = [each for each in problem.spec.cases if each.id not in lost and (each.executed or each.id in results)]
    failing = [(each, results.get(each.id)) for each in cases]
    failing += [
        (Case(id=result.id, path=result.id.split("::")[0], line=1), result) for result in attempt.verdict.collateral
    ]
    return [_case(server, run, case, result, here) for case, result in failing if result is None or not result.passed]


def _case(server: Server, run: Run, case: Case, result: CaseResult | None, here: Find) -> tuple[Path, lsp.Diagnostic]:
    attempt, failure = run.attempts[-1], result.failure if result else None
    path, line = _place(server, run, failure, case, here)
    outcome = result.outcome if result else attempt.verdict.status.value
    found = failure.type.rsplit(".", 1)[-1] if failure else attempt.error_class or outcome
    item = lsp.Diagnostic(
        range=_range(server, run.root / path, line),
        message=f"{case.source or case.id.split('::')[-1]}: {_why(attempt, failure, found)}",
        severity=lsp.DiagnosticSeverity.Error if case.binding else lsp.DiagnosticSeverity.Warning,
        code=found,
        source=f"greenloop attempt {attempt.number}/{run.limit}",
    )
    if server.abilities.related_information and failure and failure.frames:
        item.related_information = [
            _related(server, run, frame, here) for frame in failure.frames if _inside(server, run, frame)
        ]
    return run.root / path, item


def _why(attempt: Attempt, failure: Failure | None, found: str) -> str:
    if failure is None:
        return clean(f"{found}: {attempt.verdict.reason}" if attempt.verdict.reason else found)[:LONGEST]
    message = clean(failure.message).strip()
    text = message if message.startswith(found) else f"{found}: {message}".rstrip(": ")
    if failure.expected is not None and failure.observed is not None:
        text += f"\nexpected {clean(failure.expected)}, observed {clean(failure.observed)}"
    return text[:LONGEST]


def _place(server: Server, run: Run, failure: Failure | None, case: Case, here: Find) -> tuple[str, int]:
    """The deepest line of the failure that stands in the user's own text; else where the case stands."""
    for frame in reversed(failure.frames if failure else ()):
        line = here(frame.path, frame.line) if _inside(server, run, frame) else 0
        if line:
            return frame.path, line
    return case.path, here(case.path, case.line) or case.line


def _inside(server: Server, run: Run, frame: Frame) -> bool:
    # A virtual environment inside the workspace is not the user's own code.
    parts = Path(frame.path).parts
    file = run.root / frame.path
    there = server.documents.book_at(file) is not None or file.is_file()
    return not Path(frame.path).is_absolute() and "site-packages" not in parts and there


def _line_finder(server: Server, run: Run, problem: Problem, attempt: Attempt) -> Find:
    """From a line as the attempt ran it to the line in the user's text now; 0 where the user has no such line."""
    from greenloop.core.compose import compose  # noqa: PLC0415 - only runs need it, not the start

    ran = {**problem.files, **(compose(problem, attempt.candidate) if attempt.candidate else {})}

    @cache
    def mapped(path: str) -> tuple[Line, ...]:
        then, now = problem.originals.get(path), text_of(server, run.root / path)
        steps = [(then, ran.get(path, then)), (now, then)]
        return tuple(old_line(flat(old or ""), flat(new)) for old, new in steps if new is not None and old != new)

    def here(path: str, line: int) -> int:
        for step in mapped(path):
            line = step(line)
        return line

    return here


def _related(server: Server, run: Run, frame: Frame, here: Find) -> lsp.DiagnosticRelatedInformation:
    line = here(frame.path, frame.line)
    note = frame.function if line else f"{frame.function} (line {frame.line} of the attempt)"
    if not line and run.started is not None:
        regions = [region for region in run.started.problem.regions if region.path == frame.path]
        line = regions[0].start if regions else 1
    path = run.root / frame.path
    location = server.documents.location(path, _range(server, path, line))
    return lsp.DiagnosticRelatedInformation(location=location, message=clean(note))


def _summary(server: Server, run: Run) -> lsp.Diagnostic:
    path = run.root / run.target.path
    where = _range(server, path, run.target.name_line)
    for old in server.board.at(path, run):
        # It has moved with what was typed since the run began.
        where = old.range if (old.data or {}).get("summary") else where
    head = f"Refining {run.name}" if run.running else f"{run.name} is not solved"
    why = run.outcome.message if run.outcome is not None else run.refused
    if not run.running and why:
        head += f": {clean(why)}"
    item = lsp.Diagnostic(
        range=where,
        message=head,
        severity=lsp.DiagnosticSeverity.Information if run.running else lsp.DiagnosticSeverity.Warning,
        source="greenloop",
        code="refining" if run.running else "unsolved",
        data={"summary": True},
    )
    rows = [line_of(attempt) for attempt in run.attempts]
    rows += [f"in doubt: {clean(doubt)}" for doubt in (run.spec.doubts if run.spec else ())]
    if server.abilities.related_information:
        location = server.documents.location(path, where)
        item.related_information = [lsp.DiagnosticRelatedInformation(location=location, message=row) for row in rows]
    else:
        item.message = "\n".join([head, *rows])
    return item


def line_of(attempt: Attempt) -> str:
    """An attempt's result in one line: `attempt 2: 1/3 passed, AssertionError: assert 15 == 10`."""
    verdict = attempt.verdict
    name = "your code" if attempt.number == 0 else f"attempt {attempt.number}"
    counted = verdict.total and verdict.status is not Status.TAMPERED
    score = f"{verdict.passed}/{verdict.total} passed" if counted else verdict.status.value
    return ", ".join(part for part in (f"{name}: {score}", error_of(attempt)) if part)


def error_of(attempt: Attempt) -> str:
    """Error class and the first line of the first failure's message; empty for a passing attempt."""
    if attempt.verdict.status is Status.TAMPERED:
        return clean(f"{attempt.error_class}: {attempt.verdict.reason}").strip()
    failures = (case.failure for case in (*attempt.verdict.cases, *attempt.verdict.collateral) if case.failure)
    message = next((failure.message for failure in failures), attempt.verdict.reason)
    first = (clean(message).strip().splitlines() or [""])[0]
    if not attempt.error_class or first.startswith(attempt.error_class):
        return first if attempt.error_class or attempt.verdict.reason else ""
    return f"{attempt.error_class}: {first}".rstrip(": ")


def _range(server: Server, path: Path, line: int) -> lsp.Range:
    return line_range(line, text_of(server, path) or "", server.documents.position_codec)


def _moved(old: lsp.Range, shift: Shift) -> lsp.Range:
    delta = shift(old.start.line) - old.start.line
    start, end = (lsp.Position(line=p.line + delta, character=p.character) for p in (old.start, old.end))
    return lsp.Range(start=start, end=end)
