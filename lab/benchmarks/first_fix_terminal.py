"""A terminal with bash in it, whose keys are counted; of lab/benchmarks/first_fix.py."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path
from typing import Self

# Colours, cursor movements, titles: what a terminal does not show.
CONTROL = re.compile(r"\x1b\[[0-9;:<=>?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|\r")
PROMPT = "newcomer$ "
ROWS, COLUMNS = 40, 120


class Terminal:
    """`text` is what was shown since the last key, `keys` how many were typed, `notes` what happened when."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.environment, self.text, self.keys = environment, "", 0
        self.notes: list[tuple[str, float]] = []
        self._main, inside = os.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._shell = subprocess.Popen(
            # bash needs the terminal as its own for Ctrl-C and jobs.
            ["setsid", "--ctty", "bash", "--noprofile", "--norc", "-i"],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env=environment | {"PS1": PROMPT},
            cwd=folder,
        )
        os.close(inside)

    def __enter__(self) -> Self:
        self.wait_for_prompt(10)
        return self

    def __exit__(self, *_details: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGHUP)
        self._shell.kill()
        self._shell.wait()
        os.close(self._main)

    def press(self, keys: str) -> None:
        """Types keys; each character is one."""
        self.text = ""
        self.keys += len(keys)
        os.write(self._main, keys.encode())

    def enter(self, line: str) -> None:
        """Types a line and Enter."""
        self.press(f"{line}\r")

    def note(self, text: str) -> None:
        self.notes.append((text, time.monotonic()))

    def wait_for_prompt(self, seconds: float) -> None:
        self.wait_for(PROMPT, seconds)

    def wait_for(self, shown: str, seconds: float) -> None:
        """Raises `TimeoutError` with the last lines where the text is not shown in time."""
        deadline = time.monotonic() + seconds
        while shown not in (text := CONTROL.sub("", self.text)):
            if text.endswith(PROMPT):
                raise TimeoutError(f"'{shown}' was not shown, but:\n{text[-2000:]}")
            if not self.read(max(0.0, deadline - time.monotonic())):
                raise TimeoutError(f"'{shown}' was not shown within {seconds:g} s, but:\n{self.plain()}")

    def read(self, seconds: float) -> bool:
        """Reads what is shown next; False where nothing is, within these seconds or any more."""
        ready, _, _ = select.select([self._main], [], [], seconds)
        with contextlib.suppress(OSError):
            self.text += os.read(self._main, 65536).decode(errors="replace") if ready else ""
            return bool(ready)
        return False

    def plain(self) -> str:
        """The end of what was shown."""
        return CONTROL.sub("", self.text)[-2000:].rstrip()
