"""Shows events to people: a live table on a terminal, plain lines elsewhere; both on stderr only."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from greenloop.api.state import SessionState
from greenloop.cli import render
from greenloop.cli.attempt_tables import colour_diff, draw_attempts
from greenloop.cli.progress import PacedLines, ProgressBar
from greenloop.cli.render import Screen
from greenloop.core.budget import format_estimate
from greenloop.core.events import Event, Finished, Looked, Offered, Specified, Started, Tested, Token
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.text.diff import diff_files
from greenloop.wording.attempt import attempt_result, changed_suspect, rejection
from greenloop.wording.generated_tests import ChangedTests
from greenloop.wording.model import describe_questions, describe_tokens


class Activity:
    """The current activity as a sentence, with the time since it began; `state` is what is known of the run."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.state = SessionState(clock=clock)
        self._since = clock()
        self._sentence = "starting"

    def report_status(self, sentence: str) -> None:
        self._sentence, self._since = render.first_line(sentence), self.state.clock()

    def update(self, event: Event) -> None:
        self.state.record(event)
        if isinstance(event, Started | Specified):
            return
        if isinstance(event, Finished):
            self._sentence = ""
            return
        if not isinstance(event, Token):
            self._since = self.state.clock()
        if isinstance(event, Offered):
            self._sentence = self.state.status
            return
        number = event.attempt.number if isinstance(event, Tested) else event.attempt
        step = render.first_line(self.state.status or self.state.describe_reading(lengths=False))
        self._sentence = f"attempt {number}/{self.state.limit}: {step}"

    def __str__(self) -> str:
        if not self._sentence:
            return ""
        elapsed = self.state.clock() - self._since
        return self._sentence + (f" ({elapsed:.0f} s)" if elapsed >= 2 else "")


class LiveTable(Screen):
    """The live table. A context manager: on exit the finished table stays on the screen."""

    def __init__(
        self, console: Console, clock: Callable[[], float] = time.monotonic, label_cells: Callable[[str], str] = str
    ) -> None:
        self._console, self._label_cells = console, label_cells
        self._activity, self._bar = Activity(clock), ProgressBar(clock)
        self._title = self._estimate = ""
        self._tests = ChangedTests()
        self._spinner = Spinner("dots")
        self._live = Live(
            console=console, get_renderable=self._render, refresh_per_second=8, redirect_stdout=False, transient=False
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_details: object) -> None:
        self._activity.report_status("")
        self._live.stop()

    def pause(self) -> None:
        self._live.stop()

    def resume(self) -> None:
        self._live.start()

    def report_status(self, sentence: str) -> None:
        self._activity.report_status(self._label_cells(sentence))
        self._bar.report_status(self._label_cells(sentence))

    def report_left(self, seconds: float) -> None:
        self._bar.report_left(seconds)

    def emit(self, event: Event) -> None:
        self._activity.update(event)
        if isinstance(event, Started):
            self._title = self._label_cells(title(event))
            self._estimate = f"Estimate: {format_estimate(event.estimate)}." if event.estimate else ""
        elif isinstance(event, Offered):
            diff = self._label_cells(diff_files(event.outcome.before, event.outcome.after))
            self._console.print(colour_diff(diff), soft_wrap=True)
        elif isinstance(event, Specified):
            # Printed above the table, where it stays.
            for line in self._tests.lines(event):
                self._console.print(Text(self._label_cells(render.escape_controls(line))), soft_wrap=True)

    def _render(self) -> Group:
        parts: list[RenderableType] = []
        if self._title:
            parts.append(Text(self._title, style="bold"))
        if self._estimate:
            parts.append(Text(self._estimate, style="dim"))
        state = self._activity.state
        if state.attempts:
            parts.append(draw_attempts(state.attempts, self._label_cells, looks=state.looks_by_attempt))
        if sentence := str(self._activity):
            sentence = sentence if self._bar.left is None else str(self._bar)
            self._spinner.update(text=Text(sentence, overflow="ellipsis", no_wrap=True))
            parts.append(self._spinner)
        return Group(*parts)


class PlainLines(Screen):
    """Plain lines for a log or a pipe: one for each step."""

    def __init__(self, write: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._paced = PacedLines(write, clock)
        self._state = SessionState()
        self._tests = ChangedTests()

    def report_status(self, sentence: str) -> None:
        self._paced.report_status(sentence)

    def report_left(self, seconds: float) -> None:
        self._paced.progress.report_left(seconds)

    def emit(self, event: Event) -> None:
        self._state.record(event)
        limit = self._state.limit
        if isinstance(event, Started):
            self._write(title(event))
            if event.estimate:
                self._write(f"  estimate: {format_estimate(event.estimate)}")
            self._write(f"  baseline: {_attempt_line(event.baseline)}")
        elif isinstance(event, Looked):
            self._write(f"  attempt {event.attempt}/{limit} looks: {render.first_line(event.look.summary)}")
        elif isinstance(event, Tested):
            suspect = changed_suspect(event.attempt)
            place = f" in {suspect}" if suspect else ""
            self._write(f"  attempt {event.attempt.number}/{limit}{place}: {_attempt_line(event.attempt)}")
        elif isinstance(event, Offered):
            self._write(diff_files(event.outcome.before, event.outcome.after).rstrip())
            self.report_status(self._state.status)
        elif isinstance(event, Finished) and (questions := describe_questions(self._state.attempts)):
            self._write(f"  {questions}")
        elif isinstance(event, Specified):
            for line in self._tests.lines(event):
                self._write(render.escape_controls(line))


def title(event: Started) -> str:
    """`m.py::double with openai/gpt-5.1 (capable), preset default, sandbox bubblewrap`."""
    model = render.model_name(event.model, event.kind)
    return f"{_targets(event.problem)} with {model}, preset {event.preset}, sandbox {event.sandbox}"


def _targets(problem: Problem) -> str:
    """The code that may be at fault; the tests, where no function of the project ran in them."""
    regions = problem.regions
    names = [f"{region.path}::{region.qualname}" for region in regions]
    if regions and problem.names == regions[0].qualname.rpartition(".")[0]:  # of one class
        methods = ", ".join(region.qualname.rpartition(".")[2] for region in regions)
        names = [f"{regions[0].path}::{problem.names} ({methods})"]
    return render.escape_controls(", ".join(names or problem.spec.selectors))


def _attempt_line(attempt: Attempt) -> str:
    reason = rejection(attempt)
    parts = [reason] if reason else [attempt_result(attempt), render.attempt_error(attempt)]
    if attempt.spent.tokens:
        parts.append(f"{describe_tokens(attempt.spent)} tokens")
    parts.append(f"{render.attempt_seconds(attempt) or attempt.verdict.seconds:.1f} s")
    return ", ".join(part for part in parts if part)
