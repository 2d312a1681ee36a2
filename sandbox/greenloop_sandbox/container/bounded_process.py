"""Runs programs that build an image: with a time limit, and killed when the request is cancelled."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from greenloop_sandbox.errors import CannotVerifyError


class ProgramError(CannotVerifyError):
    """A program failed; `output` is everything that it wrote."""

    output = ""


def make_runner(should_stop: Callable[[], bool]) -> Callable[[list[str], float], str]:
    """Makes `run(arguments, seconds)`, which returns a program's output and stops within a second of `should_stop()`.

    It raises `CannotVerifyError` when the program is stopped or takes too long, and `ProgramError` with its last line
    when it fails.
    """

    def run(arguments: list[str], seconds: float) -> str:
        with subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            waited = 0.0
            while True:
                try:
                    output = process.communicate(timeout=0.5)[0].decode("utf-8", "replace")
                    break
                except subprocess.TimeoutExpired:
                    waited += 0.5
                    if should_stop() or waited >= seconds:
                        process.kill()
                        process.communicate()
                        reason = "was stopped" if should_stop() else f"took longer than {seconds:g} s"
                        raise CannotVerifyError(f"`{_short_command(arguments)}` {reason}.") from None
        if process.returncode:
            last_line = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "no output")
            error = ProgramError(f"`{_short_command(arguments)}` failed: {last_line[:300]}")
            error.output = output
            raise error
        return output

    return run


def _short_command(arguments: list[str]) -> str:
    return " ".join([Path(arguments[0]).name, *arguments[1:4]])
