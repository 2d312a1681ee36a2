"""`greenloop model`: manages the embedded model's weights and its server."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

from greenloop.cli import exit_codes, interrupt, options, render
from greenloop.cli.errors import print_warning
from greenloop.core.errors import ModelError, UsageError
from greenloop.engine.history.store import History
from greenloop.project.settings import Settings

ACTIONS = {
    "pull": "download the embedded model (1.1 GB, once; resumes where it stopped)",
    "list": "list models on this machine, and API keys that are set",
    "start": "start the embedded model's server",
    "stop": "end it",
    "status": "show whether the model is downloaded and its server runs",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, about in ACTIONS.items():
        action = actions.add_parser(name, help=about, description=about)
        if name == "pull":
            action.add_argument("--from", dest="source", metavar="FILE", help="copy this file instead of downloading")
        options.add(action)


def run(arguments: argparse.Namespace) -> int:
    settings = options.load(arguments, None, cwd=Path.cwd())
    try:
        if arguments.action == "pull":
            return _pull(Path(arguments.source) if arguments.source else None)
        return _ACTIONS[arguments.action](settings)
    except asyncio.CancelledError:
        print("greenloop: cancelled; the part already downloaded is kept.", file=sys.stderr)
        return exit_codes.CANCELLED


def download_weights(source: Path | None = None) -> Path:
    """Downloads the weights, or copies them from `source`, with a bar on stderr.

    Raises `ModelError`, or `CancelledError` on Ctrl-C.
    """
    from rich.console import Console  # noqa: PLC0415 - only a download shows a bar
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn  # noqa: PLC0415

    from greenloop.models.embedded import weights  # noqa: PLC0415

    console = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("embedded model", total=weights.CODER.size)
        tenths = _log_tenths(lambda text: print(text, file=sys.stderr, flush=True)) if not console.is_terminal else None

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)
            if tenths is not None:
                tenths(done, total)

        return interrupt.run(weights.pull(progress, source=source))


def _log_tenths(write: Callable[[str], object]) -> Callable[[int, int], None]:
    """For logs: writes one line for every tenth."""
    last_tenth = -1

    def progress(done: int, total: int) -> None:
        nonlocal last_tenth
        if total and (tenth := done * 10 // total) != last_tenth:
            last_tenth = tenth
            write(f"embedded model: {done / 1e6:.0f} of {total / 1e6:.0f} MB")

    return progress


def _pull(source: Path | None) -> int:
    print(f"{render.escape_controls(str(download_weights(source)))} is there and its hash is correct.")
    return exit_codes.VERIFIED


def _list(settings: Settings) -> int:
    from greenloop.models.embedded import default_model, weights  # noqa: PLC0415

    async def find_models() -> tuple[str, list[str]]:
        return await default_model.choose(settings), await default_model.ollama_models(
            default_model.ollama_base(os.environ)
        )

    chosen, ollama = interrupt.run(find_models())
    path = weights.downloaded_file()
    print(f"local: {path or 'not downloaded; run `greenloop model pull`'}")
    for name in ollama:
        print(render.escape_controls(f"ollama/{name}"))
    for name in default_model.available_keys(os.environ):
        print(f"{name} is set: choose one of that provider's models with --model")
    print(render.escape_controls(f"default: {chosen or 'none yet'}"))
    history = History.open(warn=print_warning)
    try:
        solved_by_model = history.solved_by_model()
    finally:
        history.close()
    for model, runs, solved in solved_by_model:
        print(render.escape_controls(f"{model}: {solved} of {runs} runs of your history solved and verified"))
    return exit_codes.VERIFIED


def _start(settings: Settings) -> int:
    from greenloop.models.embedded import server  # noqa: PLC0415

    running = interrupt.run(server.start(settings, report_status=lambda text: print(text, file=sys.stderr, flush=True)))
    print(f"Running: process {running.pid}, {running.base}, context {running.context}, {running.threads} threads")
    return exit_codes.VERIFIED


def _stop(_settings: Settings) -> int:
    from greenloop.models.embedded import server  # noqa: PLC0415

    print("Stopped." if interrupt.run(server.stop()) else "The server was not running.")
    return exit_codes.VERIFIED


def _status(_settings: Settings) -> int:
    from greenloop.models.embedded import hardware, server, weights  # noqa: PLC0415

    path, running = weights.downloaded_file(), server.status()
    print(f"weights: {path or 'not downloaded; run `greenloop model pull`'}")
    engine = "xllamacpp" if hardware.is_engine_installed() else "not installed; run `pip install greenloop[local]`"
    print(f"engine:  {engine}")
    state = f"process {running.pid}, {running.base}, context {running.context}" if running else "not running"
    print(f"server:  {state}")
    # For scripts: 0 if a run could use it at once or start it.
    return exit_codes.VERIFIED if path and hardware.is_engine_installed() else exit_codes.CANNOT_VERIFY


_ACTIONS: dict[str, Callable[[Settings], int]] = {
    "list": _list,
    "start": _start,
    "stop": _stop,
    "status": _status,
}


def ask_for_model(read_line: Callable[[str], str]) -> str:
    """Asks, when there is no model, whether to download the embedded one or name another; returns the model's name.

    Raises `ModelError` when the user wants neither, `UsageError` for an invalid name.
    """
    from greenloop.models.embedded import default_model  # noqa: PLC0415

    print("No model is configured and none was found on this machine.", file=sys.stderr)
    for name in default_model.available_keys(os.environ):
        print(f"  {name} is set: you can name one of that provider's models.", file=sys.stderr)
    answer = read_line("Download the embedded model now (1.1 GB, runs on this machine)? [y, n, or a model's name] ")
    if answer.lower() in ("y", "yes"):
        download_weights()
        return "local"
    if answer.lower() in ("", "n", "no"):
        raise ModelError("No model is available.", remedy="Run `greenloop model pull`, or name one with --model.")
    if " " in answer:
        raise UsageError(f"'{answer}' is not a model name.", remedy="Model names look like ollama/llama3.2.")
    return answer
