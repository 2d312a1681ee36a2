"""Shows events to people and asks them questions. It never writes to standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol, Self

from greenloop.cli.terminal_user import Person
from greenloop.cli.terminal_user import line as line  # noqa: PLC0414 - the only way to ask outside a run
from greenloop.core.events import Event
from greenloop.core.ports import NoUser, User


class Screen(Protocol):
    """A display of events: the live table or plain lines."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *details: object) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def report_status(self, sentence: str) -> None: ...

    def emit(self, event: Event) -> None: ...


class View:
    """An open screen, with or without a user who can answer. A context manager."""

    def __init__(self, screen: Screen | None) -> None:
        self._screen = screen
        self.user: User = Person(self.paused) if screen is not None and View.can_ask() else NoUser()

    def __enter__(self) -> Self:
        if self._screen is not None:
            self._screen.__enter__()
        return self

    def __exit__(self, *_details: object) -> None:
        self.close()

    def close(self) -> None:
        if self._screen is not None:
            self._screen.__exit__()
            self._screen = None

    def report_status(self, sentence: str) -> None:
        if self._screen is not None:
            self._screen.report_status(sentence)

    def emit(self, event: Event) -> None:
        if self._screen is not None:
            self._screen.emit(event)

    def paused(self, question: Callable[[], str]) -> str:
        """Asks while the screen is paused."""
        screen = self._screen
        if screen is not None:
            screen.pause()
        try:
            return question()
        finally:
            if screen is not None:
                screen.resume()

    @staticmethod
    def can_ask() -> bool:
        """Is there a user at a terminal who can read and answer a question?"""
        return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()

    @staticmethod
    def ask(question: str) -> bool:
        """Asks yes or no; anything but yes, also the end of input, is no."""
        return line(f"{question} [y/N] ").lower() in ("y", "yes")


def open_view(*, json: bool, named: Callable[[str], str] = str) -> View:
    """The live table on a terminal, plain lines elsewhere, nothing with JSON.

    `label_cells` replaces files that exist in the sandbox only by the cells that users know.
    """
    if json:
        return View(None)
    from rich.console import Console  # noqa: PLC0415 - programs that read JSON need not wait for it

    from greenloop.cli.live_table import Lines, Terminal  # noqa: PLC0415

    console = Console(stderr=True, highlight=False)
    if console.is_terminal and not console.is_dumb_terminal:
        return View(Terminal(console, named=named))
    return View(Lines(lambda text: print(named(text), file=sys.stderr, flush=True)))
