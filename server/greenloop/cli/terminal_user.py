"""Asks the user at the terminal for the engine. End of input, an empty line or nonsense give None.

Asking blocks the event loop. Ctrl-C at a question cancels the run.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence

from greenloop.cli import interrupt, render
from greenloop.core.docstrings.literals import parse_literal_input


def read_line(question: str) -> str:
    """One line from the terminal; the question goes to stderr. Empty at the end of input."""
    print(question, end="", file=sys.stderr, flush=True)
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
