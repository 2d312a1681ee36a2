"""Shows events to people and asks them questions. It never writes to standard output.

Asking blocks the event loop. Ctrl-C at a question cancels the run.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import Self

from greenloop.cli import interrupt, render
from greenloop.cli.render import Screen
from greenloop.cli.width import break_lines
from greenloop.core.events import Event
from greenloop.core.ports import NoUser, User
from greenloop.core.python.literals import parse_literal_input


class View:
    """An open screen, with or without a user who can answer. A context manager."""

    def __init__(self, screen: Screen | None) -> None:
        self._screen = screen or Screen()
        self.user: User = TerminalUser(self.ask_paused) if screen is not None and View.can_ask() else NoUser()

    def __enter__(self) -> Self:
        self._screen.__enter__()
        return self

    def __exit__(self, *_details: object) -> None:
        self.close()

    def close(self) -> None:
        self._screen.__exit__()
        self._screen = Screen()

    def report_status(self, sentence: str) -> None:
        self._screen.report_status(sentence)

    def report_left(self, seconds: float) -> None:
        self._screen.report_left(seconds)

    def emit(self, event: Event) -> None:
        self._screen.emit(event)

    def ask_paused(self, question: Callable[[], str]) -> str:
        """Asks while the screen is paused."""
        screen = self._screen
        screen.pause()
        try:
            return question()
        finally:
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


def read_line(question: str) -> str:
    """One line from the terminal; the question goes to stderr. Empty at the end of input."""
    body = question.rstrip()
    print(break_lines(body, sys.stderr), end=question[len(body) :], file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


class TerminalUser:
    """The user at the terminal; `ask_paused` asks while the live view is paused."""

    def __init__(self, ask_paused: Callable[[Callable[[], str]], str]) -> None:
        self._ask_paused = ask_paused

    async def confirm(self, question: str) -> bool | None:
        answer = self._ask(f"{render.escape_controls(question)} [y/n] ").lower()
        return {"y": True, "yes": True, "n": False, "no": False}.get(answer)

    async def choose(self, question: str, options: Sequence[str]) -> str | None:
        listed = "\n".join(f"  {number}  {render.escape_controls(option)}" for number, option in enumerate(options, 1))
        answer = self._ask(f"{render.escape_controls(question)}\n{listed}\nnumber: ")
        if answer and _match_option(answer, options) is None:
            answer = self._ask(f"Please type a number from 1 to {len(options)}: ")
        return _match_option(answer, options)

    async def correct(self, question: str, text: str) -> str | None:
        """A Python expression; asks a second time if the first answer is not one."""
        default = f" [{render.first_line(text)}]" if text else ""
        answer = self._ask(f"{render.escape_controls(question)}{default}\ncorrect value: ")
        if not answer:
            return None
        try:
            return parse_literal_input(answer)
        except ValueError as error:
            answer = self._ask(f"{render.escape_controls(str(error))}\ncorrect value: ")
        try:
            return parse_literal_input(answer) if answer else None
        except ValueError:
            return None

    def _ask(self, question: str) -> str:
        def ask() -> str:
            with interrupt.interruptible():
                return read_line(question)

        try:
            return self._ask_paused(ask)
        except KeyboardInterrupt:
            # The run ends like any cancelled run: kept in the history, with its own exit code.
            raise asyncio.CancelledError from None


def _match_option(answer: str, options: Sequence[str]) -> str | None:
    """The option with the typed number, or the only one with the typed prefix (`y`)."""
    if answer.isdecimal():
        return options[int(answer) - 1] if 1 <= int(answer) <= len(options) else None
    matches = [option for option in options if answer and option.lower().startswith(answer.lower())]
    return matches[0] if len(matches) == 1 else None
