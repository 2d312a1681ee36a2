"""Annotations of a verification: tampering, failing tests, code that sees its tests, tests that were restored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.api.targets import is_test_file
from greenloop.core.classify import is_of_workspace
from greenloop.plugins.pipelines.reports.annotations import Annotation, Level, annotate_open, find_test
from greenloop_sandbox import CaseResult

if TYPE_CHECKING:
    from greenloop.api.verification import Verification


def annotate_verification(result: Verification, root: Path) -> list[Annotation]:
    """Everything that the result says about a file; at least one error where it fails."""
    found = [
        *_tampering(result, root),
        *_failures(result, root),
        *_edits(result),
        *_annotate_restored(result),
        *annotate_open(result.data),
    ]
    if not (result.verified or result.nothing_staged) and not any(each.level is Level.ERROR for each in found):
        found.insert(0, Annotation(rule="not-verified", level=Level.ERROR, message=result.reason or "Not verified."))
    return found


def _tampering(result: Verification, root: Path) -> Iterator[Annotation]:
    for each in result.tampered:
        path, line = find_test(root, each.case) if each.case else _place_in(each.reason)
        yield Annotation(rule="tampered", level=Level.ERROR, message=each.reason, path=path, line=line, case=each.case)


def _place_in(reason: str) -> tuple[str, int]:
    """The path and line that a reason begins with; "" and 0 without."""
    named = re.match(r"(\S.*?):(\d+): ", reason)
    return (named[1], int(named[2])) if named else ("", 0)


def _failures(result: Verification, root: Path) -> Iterator[Annotation]:
    cases = {case.id: case for case in (*result.cases, *result.new.cases)}
    for name in dict.fromkeys((*result.failed, *result.new_failing)):
        if name not in result.still_failing:
            yield from _failure(cases.get(name), name, "test-failed", Level.ERROR, root)
    for name in dict.fromkeys((*result.still_failing, *result.already_failing)):
        if name in result.known_failing:
            continue
        yield from _failure(cases.get(name), name, "test-still-fails", Level.WARNING, root)
    for name in result.known_failing:
        yield from _failure(cases.get(name), name, "test-known-failing", Level.NOTE, root)


def _failure(case: CaseResult | None, name: str, rule: str, level: Level, root: Path) -> Iterator[Annotation]:
    failure = case.failure if case is not None else None
    path, line = find_test(root, name)
    frames = list(filter(is_of_workspace, failure.frames)) if failure else []
    line = next((frame.line for frame in reversed(frames) if frame.path == path), line)
    outcome = case.outcome if case is not None else "missing"
    error = f"{failure.type}: {failure.message}".strip() if failure else outcome
    yield Annotation(rule=rule, level=level, message=f"{name}: {error}", path=path, line=line, case=name)
    code = [frame for frame in frames if frame.path != path and not is_test_file(frame.path)]
    if code and level is not Level.NOTE:
        last = code[-1]
        yield Annotation(
            rule="suspicious-line",
            level=Level.WARNING,
            message=f"{name} fails below this line of {last.function}: {error}",
            path=last.path,
            line=last.line,
            case=name,
        )


def _edits(result: Verification) -> Iterator[Annotation]:
    for each in result.judging_changes:
        message = f"{each} Allowed: {result.because}" if each.allowed else str(each)
        level = Level.NOTE if each.allowed else Level.ERROR
        yield Annotation(rule="tests-changed", level=level, message=message, path=each.path)


def _annotate_restored(result: Verification) -> Iterator[Annotation]:
    named = {each.path for each in result.judging_changes}
    for path in result.changed:
        if path in named:
            continue
        message = f"{path} was restored from {result.revision}: a change of tests proves nothing about the code."
        yield Annotation(rule="tests-changed", level=Level.NOTE, message=message, path=path)
    for path in result.added:
        if path in named:
            continue
        message = f"{path} was left out, because {result.revision} does not have it."
        yield Annotation(rule="tests-changed", level=Level.NOTE, message=message, path=path)
