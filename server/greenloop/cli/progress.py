"""Shows how far a long step is: a bar with the time left on a terminal, in a pipe a line every ten seconds.

It must not know what the steps are.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from greenloop.cli import render
from greenloop_sandbox.cache import cache_folder, read_json, write

INTERVAL = 10.0  # seconds between two lines about one step
LONG = 5.0  # seconds from which a step's time is worth keeping for the next time
MOST = 100  # times that are kept
BAR = 20  # characters
_BEAT = re.compile(r" \(\d+ s\)$")
_NUMBERS = re.compile(r"\d+ of \d+")


class ProgressBar:
    """The present step, and how much of the whole is done where the time left is known."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.began = clock, clock()
        self.sentence = "starting"
        self._end: float | None = None

    def report_status(self, sentence: str) -> None:
        self.sentence = _BEAT.sub("", render.first_line(sentence))

    def report_left(self, seconds: float) -> None:
        self._end = self.clock() + seconds

    @property
    def left(self) -> float | None:
        """Seconds that the rest will take; None where that is not known, or where it took longer."""
        left = None if self._end is None else self._end - self.clock()
        return left if left is not None and left > 0 else None

    def __str__(self) -> str:
        elapsed = self.clock() - self.began
        if self.left is None:
            return f"{self.sentence} ({elapsed:.0f} s)"
        done = elapsed / (elapsed + self.left)
        full = round(BAR * done)
        return f"{'█' * full}{'░' * (BAR - full)} {done:4.0%}, {describe_left(self.left)}: {self.sentence}"


class PacedLines:
    """Writes each step once, and again with its time every ten seconds."""

    def __init__(self, write: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._sentence, self._told = "", 0.0
        self.progress = ProgressBar(clock)

    def report_status(self, sentence: str) -> None:
        self.progress.report_status(sentence)
        step, now = _NUMBERS.sub("", self.progress.sentence), self._clock()
        if step != self._sentence:
            self._write(self.progress.sentence)
        elif now - self._told < INTERVAL:
            return
        else:
            left = self.progress.left
            self._write(render.first_line(sentence) + (f", {describe_left(left)}" if left is not None else ""))
        self._sentence, self._told = step, now


def describe_left(seconds: float) -> str:
    """`about 40 s left`, `about 3 min left`."""
    return f"about {seconds:.0f} s left" if seconds < 100 else f"about {seconds / 60:.0f} min left"


@contextmanager
def timed(
    step: str, root: Path, report_left: Callable[[float], None], clock: Callable[[], float] = time.monotonic
) -> Iterator[None]:
    """Reports how long a step took in this workspace the last time, and keeps its time when the context ends."""
    file, key, began = cache_folder() / "seconds.json", f"{step} {root}", clock()
    if isinstance(seconds := read_json(file).get(key), int | float):
        report_left(seconds)
    yield
    kept = read_json(file)
    known = kept.pop(key, None)
    if (seconds := round(clock() - began, 1)) >= LONG:
        kept[key] = seconds
    if key in kept or known is not None:
        write(file, json.dumps(dict([*kept.items()][-MOST:])).encode())


@contextmanager
def open_progress() -> Iterator[tuple[Callable[[str], None], Callable[[float], None]]]:
    """The functions `report_status` and `report_left`, which show on standard error until the context ends."""
    from rich.console import Console  # noqa: PLC0415 - programs that read JSON need not wait for it

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        lines = PacedLines(lambda text: print(f"greenloop: {text}", file=sys.stderr, flush=True))
        yield lines.report_status, lines.progress.report_left
        return
    from rich.live import Live  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    progress = ProgressBar()
    with Live(
        console=console,
        get_renderable=lambda: Text(str(progress), no_wrap=True, overflow="ellipsis"),
        refresh_per_second=4,
        redirect_stdout=False,
        transient=True,
    ):
        yield progress.report_status, progress.report_left
