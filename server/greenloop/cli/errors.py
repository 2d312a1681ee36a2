"""Prints errors: a sentence with its remedy for known ones, a log file for the others."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
from pathlib import Path

from greenloop import __version__
from greenloop.cli.width import break_lines
from greenloop.core.errors import GreenloopError
from greenloop.core.text.redact import escape_controls


def print_error(error: GreenloopError) -> None:
    """Prints `greenloop: <sentence>` and the remedy on stderr."""
    _print(f"greenloop: {escape_controls(str(error))}")
    if error.remedy:
        _print(f"  {escape_controls(error.remedy)}")


def print_warning(sentence: str) -> None:
    _print(f"greenloop: warning: {escape_controls(sentence)}")


def _print(text: str) -> None:
    print(break_lines(text, sys.stderr), file=sys.stderr)


def report_unexpected(error: BaseException) -> None:
    """Prints one line for the user; the stack goes to the log file."""
    path = _write_crash_log(error)
    location = f"; details are in {path}" if path else ""
    print(f"greenloop: internal error ({type(error).__name__}). Please report it{location}.", file=sys.stderr)


def _write_crash_log(error: BaseException) -> Path | None:
    from greenloop.api.settings import state_folder  # noqa: PLC0415 - only a crash needs it

    with contextlib.suppress(OSError):
        path = state_folder() / "crash.log"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8") as file:
            file.write(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')} greenloop {__version__} pid {os.getpid()}\n")
            file.writelines(_frames(error))
        return path
    return None


def _frames(error: BaseException) -> list[str]:
    """Types and locations only: a message may quote source, a prompt or a key."""
    lines: list[str] = []
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        lines.append(f"{type(current).__module__}.{type(current).__qualname__}{_harmless_message(current)}\n")
        frames = traceback.extract_tb(current.__traceback__)
        lines += [f"  {frame.filename}:{frame.lineno} in {frame.name}\n" for frame in frames]
        current = current.__cause__ or current.__context__
    return lines


def _harmless_message(error: BaseException) -> str:
    """The message of errors in which Python itself only names types and attributes; empty for any other."""
    if isinstance(error, OSError):
        return f": errno {error.errno}"
    is_harmless = type(error) in (AttributeError, ImportError, NameError, TypeError)
    return f": {escape_controls(str(error))[:300]}" if is_harmless else ""
