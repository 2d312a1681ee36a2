"""Formats outcomes and attempts as text for people; also the display that shows nothing. It knows no terminal.

All text from models, tests and files goes through `escape_controls`: terminals obey control characters.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from typing import Self

from greenloop.core.events import Event
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ModelKind
from greenloop.core.records.outcome import Outcome
from greenloop.core.text.redact import escape_controls as escape_controls  # noqa: PLC0414 - all output goes through it
from greenloop.core.text.redact import first_line as first_line  # noqa: PLC0414 - as above
from greenloop.wording import outcome as outcome_words
from greenloop.wording.attempt import error_and_place
from greenloop.wording.model import describe_model
from greenloop.wording.notes import note_lines


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


def fit(line: str, width: int) -> str:
    """The line, shortened at its end where the terminal is narrower."""
    return line if len(line) <= width else f"{line[: width - 1]}…"


def wrap_words(text: str, width: int, *, indent: int = 0) -> list[str]:
    """Lines broken between words alone, so that a path or a command stays whole."""
    space = " " * indent
    return textwrap.wrap(
        text,
        max(width, 2 * indent),
        initial_indent=space,
        subsequent_indent=f"{space}   " if indent else "",
        break_long_words=False,
        break_on_hyphens=False,
    )


def terminal_width() -> int:
    """Columns of the terminal; of a pipe, which can be searched, as many as a line needs."""
    is_known = sys.stdout.isatty() or os.environ.get("COLUMNS")
    return shutil.get_terminal_size().columns if is_known else 100_000
