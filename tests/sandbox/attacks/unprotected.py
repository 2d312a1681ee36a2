"""The place where attacks must win: plain pytest with no wall, in a folder and namespaces that are thrown away.

Process, mount and IPC namespaces of its own, a private /tmp, /dev/shm and home: what the programs do ends with it.
The network is the host's, for reaching it is what some of them want.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .machine import VARIABLE, Machine

SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Seen:
    """How one step of plain pytest ended: its exit code (None: it had to be killed) and what it printed."""

    code: int | None
    output: str
    junit: str


class UnprotectedRun:
    """Runs plain pytest on whatever it is given."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(machine.folder),
            "LANG": "C.UTF-8",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            VARIABLE: machine.secret,
        }
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("plain.py"))],
            cwd=machine.folder,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=machine.inherited,
        )

    def run(
        self, files: Mapping[str, str], steps: Sequence[str], *, seconds: float = SECONDS, walls: bool = True
    ) -> list[Seen]:
        """Each of the steps (test files), in order. `walls` False: tame programs need no namespaces."""
        folder, home = self._machine.control()
        home.mkdir()
        self._machine.lay(folder)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        job = {
            "folder": str(folder),
            "home": str(home),
            "steps": list(steps),
            "walls": walls,
            "seconds": seconds,
            "user": None if os.getuid() == 0 else (os.getuid(), os.getgid()),
        }
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n", "the sacrificial environment ended"
        return [_seen(folder, step) for step in steps]

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


def _seen(folder: Path, step: str) -> Seen:
    def read(suffix: str) -> str:
        path = folder / (step + suffix)
        return path.read_text(errors="replace") if path.exists() else ""

    code = read(".rc").strip()
    return Seen(code=int(code) if code else None, output=read(".out"), junit=read(".xml"))
