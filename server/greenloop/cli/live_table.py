"""Shows events to people: a live table on a terminal, plain lines elsewhere; both on stderr only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from greenloop.cli import render
from greenloop.cli.attempt_tables import draw_attempts
from greenloop.cli.render import Screen
from greenloop.core import spec_summary
from greenloop.core.estimate import format_estimate
from greenloop.core.events import Checked, Event, Finished, Looked, Planned, Proposed, Specified, Started, Tested, Token
from greenloop.core.model_summary import describe_questions, describe_tokens
from greenloop.core.records.attempt import Attempt, Look
from greenloop.core.records.problem import Problem
from greenloop.core.summary import attempt_result, changed_suspect, rejection

# Tokens a second that the embedded model reads on two idle cores; the first answer corrects it.
PROMPT_TOKENS_PER_SECOND = 33.0
MAX_LISTED = 40  # tests that are listed at once


class Activity:
    """The current activity as a sentence, with the time since it began."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since = clock()
        self._attempts = 0
        self._sentence = "starting"
        self._expected: float | None = None
        self._prompt_tokens = 0
        self._speed: float | None = None

    def report_status(self, sentence: str) -> None:
        self._set_sentence(render.first_line(sentence))

    def update(self, event: Event) -> None:
        match event:
            case Started():
                self._attempts = event.attempts
                if event.model == "local":
                    self._speed = PROMPT_TOKENS_PER_SECOND
            case Planned():
                self._prompt_tokens = event.prompt_tokens
                self._set_sentence(f"attempt {event.attempt}/{self._attempts}: reading prompt")
                self._expected = event.prompt_tokens / self._speed if self._speed else None
            case Token():
                if event.count <= 1 and self._prompt_tokens:
                    self._speed = self._prompt_tokens / max(self._clock() - self._since, 0.05)
                self._sentence = f"attempt {event.attempt}/{self._attempts}: writing, {event.count} tokens"
                self._expected = None
            case Looked():
                summary = render.first_line(event.look.summary)
                self._set_sentence(f"attempt {event.attempt}/{self._attempts}: looking: {summary}")
                self._prompt_tokens = 0  # its next answer is to a longer prompt
            case Proposed() | Checked():
                self._set_sentence(f"attempt {event.attempt}/{self._attempts}: testing")
            case Tested():
                self._set_sentence(f"attempt {event.attempt.number}/{self._attempts}: deciding")
            case Finished():
                self._set_sentence("")

    def _set_sentence(self, sentence: str) -> None:
        self._sentence, self._since, self._expected = sentence, self._clock(), None

    def __str__(self) -> str:
        if not self._sentence:
            return ""
        elapsed = self._clock() - self._since
        expected = f", about {self._expected:.0f} s" if self._expected and self._expected >= 2 else ""
        return f"{self._sentence}{expected}" + (f" ({elapsed:.0f} s)" if elapsed >= 2 else "")


class LiveTable(Screen):
    """The live table. A context manager: on exit the finished table stays on the screen."""

    def __init__(
        self, console: Console, clock: Callable[[], float] = time.monotonic, label_cells: Callable[[str], str] = str
    ) -> None:
        self._console, self._label_cells = console, label_cells
        self._activity = Activity(clock)
        self._attempts: list[Attempt] = []
        self._looks: dict[int, list[Look]] = {}
        self._title = self._estimate = ""
        self._frozen_tests = FrozenTestLister()
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

    def emit(self, event: Event) -> None:
        self._activity.update(event)
        if isinstance(event, Started):
            self._title = self._label_cells(title(event))
            self._estimate = f"Estimate: {format_estimate(event.estimate)}." if event.estimate else ""
            self._attempts = [event.baseline]
        elif isinstance(event, Looked):
            self._looks.setdefault(event.attempt, []).append(event.look)
        elif isinstance(event, Tested):
            event.record_in(self._attempts)
            self._looks.pop(event.attempt.number, None)
        elif isinstance(event, Specified):
            # Printed above the table, where it stays.
            for line in self._frozen_tests.lines(event):
                self._console.print(Text(self._label_cells(line)), soft_wrap=True)

    def _render(self) -> Group:
        parts: list[RenderableType] = []
        if self._title:
            parts.append(Text(self._title, style="bold"))
        if self._estimate:
            parts.append(Text(self._estimate, style="dim"))
        if self._attempts:
            parts.append(draw_attempts(self._attempts, self._label_cells, looks=self._looks))
        if sentence := str(self._activity):
            self._spinner.update(text=Text(sentence, overflow="ellipsis", no_wrap=True))
            parts.append(self._spinner)
        return Group(*parts)


class PlainLines(Screen):
    """Plain lines for a log or a pipe: one for each step."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._limit = 0
        self._attempts: list[Attempt] = []
        self._frozen_tests = FrozenTestLister()

    def report_status(self, sentence: str) -> None:
        self._write(render.first_line(sentence))

    def emit(self, event: Event) -> None:
        if isinstance(event, Started):
            self._limit, self._attempts = event.attempts, [event.baseline]
            self._write(title(event))
            if event.estimate:
                self._write(f"  estimate: {format_estimate(event.estimate)}")
            self._write(f"  baseline: {_attempt_line(event.baseline)}")
        elif isinstance(event, Looked):
            self._write(f"  attempt {event.attempt}/{self._limit} looks: {render.first_line(event.look.summary)}")
        elif isinstance(event, Tested):
            event.record_in(self._attempts)
            suspect = changed_suspect(event.attempt)
            place = f" in {suspect}" if suspect else ""
            self._write(f"  attempt {event.attempt.number}/{self._limit}{place}: {_attempt_line(event.attempt)}")
        elif isinstance(event, Finished) and (questions := describe_questions(self._attempts)):
            self._write(f"  {questions}")
        elif isinstance(event, Specified):
            for line in self._frozen_tests.lines(event):
                self._write(line)


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


class FrozenTestLister:
    """Lists all tests once, and afterwards only the changes."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._doubts: set[str] = set()

    def lines(self, event: Specified) -> Iterator[str]:
        """The lines of an event: `?` has a vote, `=` must pass, `x` no longer counts."""
        listed = spec_summary.list_rows(event.spec, has_votes=bool(self._known))
        changed = [each for each in listed if self._known.get(each.source) != each.why]
        if not self._known:
            yield f"tests, fixed before the first attempt: {spec_summary.count_tests(event.spec)}"
        elif event.reason:
            yield render.escape_controls(event.reason)
        for each in changed[:MAX_LISTED]:
            mark = "x" if each.is_discarded else "=" if each.binding else "?"
            yield render.escape_controls(f"  {mark} {each.source}  ({each.why})")
        if len(changed) > MAX_LISTED:
            yield f"  … {len(changed) - MAX_LISTED} more"
        for doubt in event.spec.doubts:
            if doubt not in self._doubts:
                yield render.escape_controls(f"  in doubt: {doubt}")
        self._known = {each.source: each.why for each in listed}
        self._doubts.update(event.spec.doubts)
