"""A user at a terminal who types prepared lines."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from _pytest.capture import CaptureIO, DontReadFromInput, EncodedFile


@dataclass
class Keyboard:
    """Standard input of a terminal: `lines` are typed one after the other, an exception is raised, then it ends.

    `reads` counts the lines that were asked for.
    """

    lines: list[str | BaseException] = field(default_factory=list)
    reads: int = 0

    def readline(self) -> str:
        self.reads += 1
        line = self.lines.pop(0) if self.lines else None
        if isinstance(line, BaseException):
            raise line
        return "" if line is None else f"{line}\n"


@pytest.fixture
def keyboard(monkeypatch):
    """A user at a terminal; `keyboard.lines` is what they will type."""
    made = Keyboard()
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stdin.readline", made.readline)
    # pytest's own streams, which it makes anew for the call of the test.
    for stream in (DontReadFromInput, EncodedFile, CaptureIO):
        monkeypatch.setattr(stream, "isatty", lambda _stream: True)
    return made
