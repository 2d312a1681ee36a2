"""The place where attacks must win: plain pytest with no wall, in a folder and namespaces that are thrown away.

Process, mount and IPC namespaces of its own, a private /tmp, /dev/shm and home: what the programs do ends with it.
The network is the host's, for reaching it is what some of them want.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .machine import VARIABLE, Machine

_WALLS = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--ipc")
_PRIVATE = (
    "mount -t tmpfs none /tmp && mount -t tmpfs none /dev/shm && mkdir /tmp/.upper /tmp/.work && "
    "mount -t overlay none -o lowerdir={prefix},upperdir=/tmp/.upper,workdir=/tmp/.work {prefix}"
)
# A process for `kill -1` to hit, and the steps, one after another, from one and the same parent.
_SCRIPT = "{private} && (sleep 600 & true) && for step in {steps}; do {pytest} $step > $step.out 2>&1; echo $? > $step.rc; done"
SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Seen:
    """How one step of plain pytest ended: its exit code (None: it had to be killed) and what it printed."""

    code: int | None
    output: str
    junit: str


def run(
    folder: Path,
    machine: Machine,
    files: Mapping[str, str],
    steps: Sequence[str],
    *,
    seconds: float = SECONDS,
    pass_fds: tuple[int, ...] = (),
    walls: bool = True,
) -> list[Seen]:
    """Runs plain pytest on each of the steps (test files), in order. `walls` False: tame programs need none."""
    machine.lay(folder)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    home = folder.parent / (folder.name + "-home")
    home.mkdir()
    pytest = f"{shlex.quote(sys.executable)} -m pytest -q --tb=short -s --junitxml=$step.xml"
    script = _SCRIPT.format(
        private=_PRIVATE.format(prefix=shlex.quote(sys.prefix)) if walls else "true",
        steps=" ".join(map(shlex.quote, steps)),
        pytest=pytest,
    )
    user = () if os.getuid() == 0 else ("--user", "--map-root-user")
    argv = (
        ["unshare", *user, *_WALLS, "sh", "-c", script]
        if walls
        else ["sh", "-c", script.replace("(sleep 600 & true)", "true")]
    )
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        VARIABLE: machine.secret,
    }
    with subprocess.Popen(
        argv,
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=pass_fds,
        start_new_session=True,
    ) as process:
        try:
            errors = process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            errors = process.communicate()[1]
    seen = [_seen(folder, step) for step in steps]
    assert seen[0].code is not None or process.returncode < 0, f"the sacrificial environment failed: {errors!r}"
    return seen


def _seen(folder: Path, step: str) -> Seen:
    def read(suffix: str) -> str:
        path = folder / (step + suffix)
        return path.read_text(errors="replace") if path.exists() else ""

    code = read(".rc").strip()
    return Seen(code=int(code) if code else None, output=read(".out"), junit=read(".xml"))
