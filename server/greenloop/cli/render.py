"""Formats outcomes and attempts as text for people; also the display that shows nothing. It knows no terminal.

All text from models, tests and files goes through `escape_controls`: terminals obey control characters.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Self

from greenloop.api.verification import State, Verification
from greenloop.core.events import Event
from greenloop.core.feature_data import show
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ModelKind
from greenloop.core.records.outcome import Outcome
from greenloop.core.text.redact import escape_controls as escape_controls  # noqa: PLC0414 - all output goes through it
from greenloop.core.text.redact import first_line as first_line  # noqa: PLC0414 - as above
from greenloop.wording import outcome as outcome_words
from greenloop.wording.attempt import error_and_place
from greenloop.wording.model import describe_model
from greenloop.wording.notes import describe_weakness, list_some, note_lines


def attempt_error(attempt: Attempt) -> str:
    """Error class and place, `AssertionError test_m.py:5`; for a faked pass how it was detected; else the gain."""
    return first_line(error_and_place(attempt), max_length=400)


def model_name(name: str, kind: ModelKind | None = None) -> str:
    """A model's name with its kind, without the file of a scripted or replayed model."""
    return escape_controls(describe_model(name, kind))


def attempt_seconds(attempt: Attempt) -> float:
    return attempt.spent.model_seconds + attempt.spent.test_seconds


def outcome_sentence(outcome: Outcome) -> str:
    """The final sentence of a run."""
    return escape_controls(outcome_words.outcome_sentence(outcome))


def outcome_notes(outcome: Outcome) -> list[str]:
    """Lists points to check in the change of a solved run, a line each."""
    return [escape_controls(line) for line in note_lines(outcome)]


def best_attempt(outcome: Outcome) -> Attempt | None:
    return next((attempt for attempt in outcome.attempts if attempt.number == outcome.best and attempt.number), None)


def format_time(epoch: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(epoch))


class Screen:
    """A display of events; this one shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def report_status(self, sentence: str) -> None: ...

    def report_left(self, seconds: float) -> None: ...

    def emit(self, event: Event) -> None: ...


# -- a verification ---------------------------------------------------------------------------------------------------


MAX_LISTED = 10  # names in one line


def describe(result: Verification) -> Iterator[str]:
    """The lines that tell a person what a verification found; `--json` has all names."""
    yield escape_controls(_describe_head(result))
    cases = {case.id: case for case in (*result.cases, *result.new.cases)}
    for case in (*result.failed, *result.new_failing)[:MAX_LISTED]:
        failure = cases[case].failure if case in cases else None
        reason = f": {failure.type}: {failure.message.strip().splitlines()[0]}" if failure and failure.message else ""
        yield escape_controls(f"  failed: {case}{reason}"[:300])
    yield from _list_names("tampered with", [each.case for each in result.tampered if each.case])
    yield from _list_names("passes now", result.fixed)
    yield from _list_names("still failing", result.still_failing)
    if result.still_failing:
        yield "  to accept tests that fail as before, name them: --known-failing ID..."
    yield from _list_names("already failing", result.already_failing)
    yield from _list_names("known to fail", result.known_failing)
    yield from _list_names("flaky", result.flaky)
    changed = [f"{path} (changed)" for path in result.changed] + [f"{path} (removed)" for path in result.removed]
    yield from _list_names(f"restored from {result.revision}", changed)
    yield from _list_names(f"left out, because {result.revision} does not have it", result.added)
    for each in result.judging_changes:
        yield escape_controls(f"  {each}{f' Allowed: {result.because}' if each.allowed else ''}")
    if result.new.cases:
        passed = sum(case.passed for case in result.new.cases)
        proven = f"{len(result.new.passes)} of them because of the change"
        yield f"  tests that only the change has: {passed} of {len(result.new.cases)} pass, {proven}"
    yield from _list_names("kept, although the commit does not have it", result.kept)
    if total := len({*result.apart, *result.together, *result.unearned}):
        yield f"  proven apart: {len(result.apart)} of {total} cases"
    yield from _list_names("ran in one process, as with the code before", [*result.together])
    for case, why in list(result.unearned.items())[:MAX_LISTED]:
        yield escape_controls(f"  not proven apart: {case} ({why})"[:300])
    for shown in show(result.data):
        yield from (escape_controls(f"  {line}") for line in shown.report(MAX_LISTED))
    for sentence in (*result.changes, *result.notes):
        yield escape_controls(f"  {sentence}")
    if result.network:
        yield "  tests could reach the network (sandbox.network)"


def _describe_head(result: Verification) -> str:
    if result.tampered:
        return f"Tampered: {result.reason}"
    if result.state in (State.STILL_FAILING, State.NOTHING_STAGED):
        return result.reason
    if not result.verified:
        return f"{'Unverified' if result.sandbox == 'none' and not result.failed else 'Not verified'}: {result.reason}"
    passed = sum(case.passed for case in result.cases)
    base = f"{result.revision} ({result.base[:12]})" if result.base else result.revision
    if known := result.old_failures:
        how = "as known" if result.state is State.KNOWN_FAILING else f"as in {result.revision}"
        failing = f"{len(known)} of {passed + len(known)} tests {'fails' if len(known) == 1 else 'fail'}"
        return (
            f"{failing}, {how}: {', '.join(known[:3])}{' ...' if len(known) > 3 else ''}; "
            f"{passed} pass and are verified in {result.sandbox} by {base}, {result.seconds:.1f} s"
        )
    word = "Partially verified" if result.doubts else "Verified"
    weak = f"; {weakness}" if (weakness := describe_weakness(result.data)) else ""
    return f"{word} in {result.sandbox}: {passed} tests of {base} pass with this code{weak}, {result.seconds:.1f} s"


def _list_names(what: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield escape_controls(f"  {what}: {list_some(names, MAX_LISTED)}")
