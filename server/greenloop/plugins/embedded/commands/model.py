"""`greenloop model`: manages the weights of embedded models and their server."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from functools import partial
from pathlib import Path

from greenloop.api.history import History
from greenloop.cli import exit_codes, interrupt, options, render
from greenloop.cli.errors import print_warning
from greenloop.cli.first_model import report, show_download
from greenloop.cli.screen import read_line
from greenloop.core.errors import UsageError
from greenloop.models import default_model
from greenloop.models.local_models import LOCAL, is_local
from greenloop.plugins.embedded import catalogue, hardware, server, weights
from greenloop.plugins.embedded.catalogue import EmbeddedModel
from greenloop.plugins.embedded.settings import EmbeddedSettings
from greenloop.project.environment.installation import extra_command
from greenloop.project.settings import Settings

SUMMARY = "manage the embedded model"
ACTIONS = {
    "pull": "download an embedded model (once; resumes where it stopped)",
    "list": "list the models that can be downloaded or are on this machine, and API keys that are set",
    "start": "start the embedded model's server",
    "stop": "end it",
    "status": "show whether the model is downloaded and its server runs",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, about in ACTIONS.items():
        action = actions.add_parser(name, help=about, description=about)
        if name == "pull":
            action.add_argument(
                "name", nargs="?", metavar="NAME", help="a model from `greenloop model list` (default: the 1.1 GB one)"
            )
            action.add_argument("--from", dest="source", metavar="FILE", help="copy this file instead of downloading")
            action.add_argument(
                "--as", dest="own", metavar="NAME", help="with --from: add a model of your own, a GGUF file"
            )
            action.add_argument(
                "--accept-license", action="store_true", help="accept a license that forbids some use, without asking"
            )
        options.add(action)


def run(arguments: argparse.Namespace) -> int:
    settings = options.load(arguments, None, cwd=Path.cwd())
    try:
        if arguments.action == "pull":
            return _pull(arguments)
        actions = {"list": _list, "start": _start, "stop": _stop, "status": _status}
        return actions[arguments.action](settings)
    except asyncio.CancelledError:
        print("greenloop: cancelled; the part already downloaded is kept.", file=sys.stderr)
        return exit_codes.CANCELLED


def _pull(arguments: argparse.Namespace) -> int:
    source = Path(arguments.source) if arguments.source else None
    if arguments.own is not None and (source is None or arguments.name):
        raise UsageError(
            "--as names a model of your own; it needs --from and takes no other name.",
            remedy="Example: greenloop model pull --from model.gguf --as mine",
        )
    if arguments.own is not None:
        assert source is not None
        model = weights.describe_own(arguments.own, source)
    else:
        model = catalogue.find((arguments.name or catalogue.DEFAULT).removeprefix(f"{LOCAL}/"))
        if weights.downloaded_file(model) is None:
            _require_license(model, accepted=arguments.accept_license)
    path = render.escape_controls(str(show_download(model.name, partial(weights.pull, model=model, source=source))))
    checked = "its SHA-256 is recorded" if arguments.own else "its hash is correct"
    print(f"{path} is there and {checked}.")
    if not model.fim:
        print("It has none of the known fill-in-the-middle words, and is asked for whole answers only.")
    if model.setting != LOCAL:
        print(f'Use it with --model {model.setting}, or with the setting model = "{model.setting}".')
    return exit_codes.VERIFIED


def _require_license(model: EmbeddedModel, *, accepted: bool) -> None:
    """Says what the model's license forbids and asks. Raises `UsageError` unless the user accepts it."""
    if not model.restriction:
        return
    sentence = (
        f"{model.name} has the {model.license} license: {model.restriction} (https://huggingface.co/{model.hub})."
    )
    if not accepted:
        can_ask = sys.stdin.isatty() and sys.stderr.isatty()
        if not can_ask or read_line(f"{sentence}\nDo you accept it? [y, n] ").lower() not in ("y", "yes"):
            raise UsageError(
                f"{sentence} It was not downloaded.", remedy="To accept the license, add --accept-license."
            )
    else:
        print(sentence, file=sys.stderr)


def _list(settings: Settings) -> int:
    async def find_models() -> tuple[str, list[str]]:
        ollama = await default_model.ollama_models(default_model.ollama_base(os.environ))
        return await default_model.choose(settings), ollama

    chosen, ollama = interrupt.run(find_models())
    with History.open(warn=print_warning) as history:
        solved = {model: f"{count} of {runs}" for model, runs, count in history.solved_by_model()}
    listed = _print_embedded(settings, solved)
    for name in ollama:
        print(render.escape_controls(f"ollama/{name}"))
    for name in default_model.available_keys(os.environ):
        print(f"{name} is set: choose one of that provider's models with --model")
    print(render.escape_controls(f"default: {chosen or 'none yet'}"))
    for model, share in solved.items():
        if model not in listed:
            print(render.escape_controls(f"{model}: {share} runs of your history solved and verified"))
    return exit_codes.VERIFIED


def _print_embedded(settings: Settings, solved: dict[str, str]) -> set[str]:
    """Prints the table of embedded models and which one suits this machine; returns the models' names."""
    models, machine = catalogue.known_models(), hardware.Machine()
    rows = [("model", "download", "memory", "license", "here", "solved", "note")]
    for model in models:
        size = f"{model.size / 1e9:.1f} GB" if model.size else "?"
        memory = f"{hardware.needed_memory(model, settings.of(EmbeddedSettings)) / 1e9:.1f} GB" if model.size else "?"
        note = "your own" if not model.hub else "" if model.tried else "not tested"
        here = "yes" if weights.downloaded_file(model) else "no"
        share = solved.get(model.setting, "")
        rows.append((model.name, size, memory, model.license or "?", here, share, note))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(render.escape_controls("  ".join(cells).rstrip()))
    print(f"use: --model local/NAME, after `greenloop model pull NAME`; local alone is {catalogue.DEFAULT}")
    print(render.escape_controls(f"this machine: {hardware.describe(machine)}"))
    fitting = hardware.recommend(models, settings.of(EmbeddedSettings), machine)
    print(f"recommended: {fitting.name if fitting else 'none of these'}")
    if features := hardware.missing_features(machine):
        print(features)
    if layers := hardware.describe_gpu_use(settings.of(EmbeddedSettings), machine.gpus):
        print(render.escape_controls(f"embedded.gpu: {layers}"))
    return {model.setting for model in models}


def _start(settings: Settings) -> int:
    running = interrupt.run(server.start(settings, _chosen(settings), report_status=report))
    print(
        f"Running: {running.model}, process {running.pid}, {running.base}, context {running.context}, "
        f"{running.threads} threads"
    )
    return exit_codes.VERIFIED


def _stop(_settings: Settings) -> int:
    print("Stopped." if interrupt.run(server.stop()) else "The server was not running.")
    return exit_codes.VERIFIED


def _status(settings: Settings) -> int:
    model = _chosen(settings)
    path, running = weights.downloaded_file(model), server.status()
    print(f"weights: {path or f'not downloaded; run `{model.pull_command}`'}")
    print(f"engine:  {'xllamacpp' if hardware.is_engine_installed() else f'not installed; run `{extra_command()}`'}")
    state = "not running"
    if running is not None:
        state = f"{running.model}, process {running.pid}, {running.base}, context {running.context}"
    print(f"server:  {state}")
    # For scripts: 0 if a run could use it at once or start it.
    return exit_codes.VERIFIED if path and hardware.is_engine_installed() else exit_codes.CANNOT_VERIFY


def _chosen(settings: Settings) -> EmbeddedModel:
    """The embedded model of the setting `model`; the default one if that is another kind of model."""
    return catalogue.named_by(settings.model if is_local(settings.model) else "")
