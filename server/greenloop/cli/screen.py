"""Shows events to people and asks them questions. It never writes to standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol, Self

from greenloop.cli.terminal_user import TerminalUser
from greenloop.cli.terminal_user import read_line as read_line  # noqa: PLC0414 - the only way to ask outside a run
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
        self.user: User = TerminalUser(self.ask_paused) if screen is not None and View.can_ask() else NoUser()

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

    def ask_paused(self, question: Callable[[], str]) -> str:
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
    def ask_yes_no(question: str) -> bool:
        """Asks yes or no; anything but yes, also the end of input, is no."""
        return read_line(f"{question} [y/N] ").lower() in ("y", "yes")


def open_view(*, json: bool, label_cells: Callable[[str], str] = str) -> View:
    """The live table on a terminal, plain lines elsewhere, nothing with JSON.

    `label_cells` replaces files that exist in the sandbox only by the cells that users know.
    """
    if json:
        return View(None)
    from rich.console import Console  # noqa: PLC0415 - programs that read JSON need not wait for it

    from greenloop.cli.live_table import LiveTable, PlainLines  # noqa: PLC0415

    console = Console(stderr=True, highlight=False)
    if console.is_terminal and not console.is_dumb_terminal:
        return View(LiveTable(console, label_cells=label_cells))
    return View(PlainLines(lambda text: print(label_cells(text), file=sys.stderr, flush=True)))
