"""Records a pytest session, and calls greenloop when it is over, in processes of its own.

The tests may have left anything behind in this process (patches, signal handlers, another folder), so nothing of
greenloop's engine runs here. Nothing here changes the exit status of the tests.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

import pytest

from greenloop.plugins.pipelines.pytest_plugin import ALL, ASK

_QUESTION = "greenloop: refine {}? [y]es, [n]o, [a]ll, [q]uit: "


def _can_ask() -> bool:
    return bool(sys.__stdin__ and sys.__stdin__.isatty() and sys.__stderr__ and sys.__stderr__.isatty())


def _ask(question: str, out: TextIO) -> str:
    """The first letter of the answer; the end of the input is `q`, anything unknown `n`."""
    print(question, end="", file=out, flush=True)
    line = sys.__stdin__.readline() if sys.__stdin__ else ""
    letter = line.strip()[:1].lower() if line else "q"
    return letter if letter in {"y", "a", "q"} else "n"


class SessionRecorder:
    """The plugin of a session that asked for it."""

    def __init__(
        self,
        config: pytest.Config,
        run: Callable[..., object] = subprocess.run,
        can_ask: Callable[[], bool] = _can_ask,
        ask: Callable[[str, TextIO], str] = _ask,
    ) -> None:
        self._start, self._can_ask, self._ask = run, can_ask, ask
        self._root = str(config.rootpath)
        self._environ = dict(os.environ)  # before a test may change it
        self._grouped = getattr(config.option, "dist", "") == "loadgroup"
        self._phases: dict[str, list[dict[str, Any]]] = {}
        self._cancelled = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Records a phase of a test."""
        # With --dist=loadgroup, xdist adds the group's name to the id.
        case = report.nodeid.rsplit("@", 1)[0] if self._grouped else report.nodeid
        phases = self._phases.setdefault(case, [])
        if report.when == "setup":
            phases.clear()  # the test runs once more
        wasxfail = getattr(report, "wasxfail", None)
        phases.append(
            {
                "when": report.when,
                "outcome": report.outcome,
                "wasxfail": None if wasxfail is None else str(wasxfail),
                "seconds": report.duration,
            }
        )

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Notes that the user ended the session; `-x` ends it by an exception that is only derived from these."""
        self._cancelled = excinfo.type in (KeyboardInterrupt, pytest.exit.Exception)

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Does what was asked for, after the summary."""
        if self._cancelled or not self._phases:
            return
        capture = config.pluginmanager.getplugin("capturemanager")
        if capture is not None:
            capture.suspend_global_capture(in_=True)
        sys.stdout.flush()
        out = sys.__stderr__ or sys.stderr
        try:
            if config.option.refine_verify:
                self._compare()
            if config.option.refine in (ASK, ALL):
                self._refine(out, config.option.refine, config.option.refine_seconds)
        except KeyboardInterrupt:
            print("\ngreenloop: cancelled.", file=out)
        except OSError as error:
            print(f"greenloop: it could not be started: {error.strerror}.", file=out)

    def _compare(self) -> None:
        request = {"root": self._root, "python": sys.executable, "phases": self._phases}
        self._run("greenloop.plugins.pipelines.pytest_plugin.compare", input=json.dumps(request))

    def _refine(self, out: TextIO, mode: str, seconds: float) -> None:
        failing = [case for case, phases in self._phases.items() if any(each["outcome"] == "failed" for each in phases)]
        if mode == ASK and failing and not self._can_ask():
            print("greenloop: no interactive terminal. To fix the failing tests, run:", file=out)
            for case in failing:
                print(f"  greenloop fix {shlex.quote(case)}", file=out)
            return
        deadline = time.monotonic() + seconds
        for number, case in enumerate(failing):
            answer = "y" if mode == ALL else self._ask(_QUESTION.format(case), out)
            if answer == "q":
                return
            if answer == "a":
                mode, deadline = ALL, time.monotonic() + seconds
            if answer == "n":
                continue
            left = deadline - time.monotonic()
            if mode == ALL and left < 1:
                print(
                    f"greenloop: the {seconds:g} s of --refine-seconds are over; {len(failing) - number} tests left.",
                    file=out,
                )
                return
            words = ["fix", case, "--root", self._root, "--set", f"interpreter={sys.executable}"]
            self._run("greenloop", *words, *(("--seconds", f"{left:.0f}") if mode == ALL else ()))

    def _run(self, module: str, *words: str, input: str | None = None) -> None:  # noqa: A002 - as subprocess calls it
        # -P: a module next to the tests must not be imported in place of greenloop's.
        command = [sys.executable, "-P", "-m", module, *words]
        self._start(command, cwd=self._root, env=self._environ, input=input, text=True, check=False)
