"""Programs that make an image: each with a time limit, each ended when nobody waits for it any more."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from greenloop.core.errors import CannotVerify


class Failed(CannotVerify):
    """A program ended with an error; `output` is all it wrote."""

    output = ""


def runner(stop: Callable[[], bool]) -> Callable[[list[str], float], str]:
    """`run(arguments, seconds)` gives a program's output, or up within a second once `stop()` says so.

    It raises `CannotVerify` when that is stopped or takes too long, and `Failed` with its last line when it fails.
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
                    if stop() or waited >= seconds:
                        process.kill()
                        process.communicate()
                        why = "was stopped" if stop() else f"took longer than {seconds:g} s"
                        raise CannotVerify(f"`{_brief(arguments)}` {why}.") from None
        if process.returncode:
            last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "no output")
            failed = Failed(f"`{_brief(arguments)}` failed: {last[:300]}")
            failed.output = output
            raise failed
        return output

    return run


def _brief(arguments: list[str]) -> str:
    return " ".join([Path(arguments[0]).name, *arguments[1:4]])
