"""Asks for a model where there is none, and shows how a download goes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from greenloop.api.models import available_keys, pull_embedded, why_embedded_cannot_run
from greenloop.api.settings import Settings
from greenloop.cli import interrupt
from greenloop.cli.screen import read_line
from greenloop.core.errors import ModelError, UsageError

Progress = Callable[[int, int], None]  # bytes done, and in total
OTHER_MODELS = (
    "Name one with --model: ollama/NAME for a model of Ollama on this machine, or openai/NAME, anthropic/NAME "
    "and so on with that provider's key in the environment."
)


def ask_for_model(settings: Settings) -> str:
    """Asks, when there is no model, whether to download the embedded one or name another; returns the model's name.

    Raises `ModelError` when the user wants neither or the embedded one cannot run here, `UsageError` for an invalid
    name.
    """
    for name in available_keys(os.environ):
        print(f"  {name} is set: you can name one of that provider's models.", file=sys.stderr)
    # Otherwise a download would be offered that is of no use.
    if reason := interrupt.run(why_embedded_cannot_run(settings)):
        raise ModelError("The embedded model cannot run here.", remedy=reason)
    answer = read_line("Download the embedded model now (1.1 GB, runs on this machine)? [y, n, or a model's name] ")
    if answer.lower() in ("y", "yes"):
        show_download("the embedded model", pull_embedded)
        return "local"
    if answer.lower() in ("", "n", "no"):
        raise ModelError("No model is available.", remedy=f"{OTHER_MODELS} Or run `greenloop model pull`.")
    if " " in answer:
        raise UsageError(f"'{answer}' is not a model name.", remedy="Model names look like ollama/llama3.2.")
    return answer


def show_download(name: str, download: Callable[[Progress], Coroutine[Any, Any, Path]]) -> Path:
    """Downloads a model with a bar on stderr. Raises `ModelError`, or `CancelledError` on Ctrl-C."""
    from rich import progress as rich  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415 - only a download shows a bar

    console = Console(stderr=True, highlight=False)
    columns = (rich.BarColumn(), rich.DownloadColumn(), rich.TransferSpeedColumn(), rich.TimeRemainingColumn())
    with rich.Progress("{task.description}", *columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(name, total=None)
        tenths = None if console.is_terminal else _log_tenths(name, report)

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)
            if tenths is not None:
                tenths(done, total)

        return interrupt.run(download(progress))


def _log_tenths(name: str, write: Callable[[str], object]) -> Progress:
    """For logs: writes one line for every tenth."""
    last_tenth = -1

    def progress(done: int, total: int) -> None:
        nonlocal last_tenth
        if total and (tenth := done * 10 // total) != last_tenth:
            last_tenth = tenth
            write(f"{name}: {done / 1e6:.0f} of {total / 1e6:.0f} MB")

    return progress


def report(text: str) -> None:
    """Writes a line to stderr at once."""
    print(text, file=sys.stderr, flush=True)
