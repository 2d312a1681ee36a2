"""Formats outcomes and attempts as text for people; also the display that shows nothing. It knows no terminal.

All text from models, tests and files goes through `escape_controls`: terminals obey control characters.
"""

from __future__ import annotations

import re
import time
from typing import Self

from greenloop.core.events import Event
from greenloop.core.model_summary import describe_model
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import Kind
from greenloop.core.records.outcome import Outcome, Verified
from greenloop.core.records.verdict import CaseResult, Status
from greenloop.core.result_notes import list_notes
from greenloop.core.summary import REJECTIONS, attempt_gain

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
VERIFIED_WORDS = {
    Verified.VERIFIED: "verified",
    Verified.PARTIALLY: "partially verified",
    Verified.UNVERIFIED: "unverified",
}


def escape_controls(text: str) -> str:
    """Makes every control and direction character visible; line ends and tabs stay."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def first_line(text: str, max_length: int = 120) -> str:
    """The first line that is not blank, shortened."""
    line = next((line.strip() for line in escape_controls(text).splitlines() if line.strip()), "")
    return line if len(line) <= max_length else line[: max_length - 1] + "…"


def first_changed_line(before: str | None, after: str) -> int:
    """The first line of the new text that differs, 1-based."""
    old_lines, new_lines = (before or "").splitlines(), after.splitlines()
    index = next(
        (i for i, (a, b) in enumerate(zip(old_lines, new_lines, strict=False)) if a != b),
        min(len(old_lines), len(new_lines)),
    )
    return min(index, max(len(new_lines) - 1, 0)) + 1


def first_failure(attempt: Attempt) -> CaseResult | None:
    """The case that explains an attempt best: the first failing target, else a related test that it broke."""
    results = (*attempt.verdict.cases, *attempt.verdict.collateral)
    failing = [case for case in results if not case.passed]
    return next((case for case in failing if case.failure), failing[0] if failing else None)


def failure_location(attempt: Attempt) -> str:
    """`file:line` of the innermost frame in the workspace; empty when there is none."""
    if attempt.finding is not None:
        return f"line {attempt.finding.line}" if attempt.finding.line else ""
    case = first_failure(attempt)
    frames = case.failure.frames if case and case.failure else ()
    # Paths outside the workspace are absolute; the innermost frame of the user's own code is more helpful.
    own_frames = [frame for frame in frames if not frame.path.startswith(("/", "<")) and ":" not in frame.path]
    return escape_controls(f"{own_frames[-1].path}:{own_frames[-1].line}") if own_frames else ""


def attempt_error(attempt: Attempt) -> str:
    """Error class and location, `AssertionError test_m.py:5`; for a faked pass how it was detected; else the gain."""
    if attempt.verdict.status is Status.TAMPERED:
        return first_line(f"{attempt.error_class}: {attempt.verdict.reason}", max_length=400)
    if attempt.verdict.status is Status.REFUSED and attempt.error_class in REJECTIONS:
        return REJECTIONS[attempt.error_class]
    failure = " ".join(part for part in (escape_controls(attempt.error_class), failure_location(attempt)) if part)
    return failure or attempt_gain(attempt)


def model_name(name: str, kind: Kind | None = None) -> str:
    """A model's name with its kind, without the file of a scripted or replayed model."""
    return escape_controls(describe_model(name, kind))


def attempt_seconds(attempt: Attempt) -> float:
    return attempt.spent.model_seconds + attempt.spent.test_seconds


def outcome_sentence(outcome: Outcome) -> str:
    """The final sentence of a run; the engine writes it with the evidence."""
    fallback = VERIFIED_WORDS[outcome.verified] if outcome.solved else f"not solved: {outcome.reason.value}"
    return escape_controls(outcome.message) or fallback


def outcome_notes(outcome: Outcome) -> list[str]:
    """What to look at in the change of a solved run, a line each."""
    return [f"Note: {escape_controls(note)}" for note in list_notes(outcome)]


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

    def emit(self, event: Event) -> None: ...
