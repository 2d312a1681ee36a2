"""Defines the options that several subcommands share, and loads their settings."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from greenloop.cli.errors import print_warning
from greenloop.project import configuration, templates
from greenloop.project.settings import Settings

_ALIASES = {
    "model": "model",
    "preset": "preset",
    "attempts": "attempts",
    "seconds": "seconds",
    "tokens": "tokens",
    "ask": "ask",
    "sandbox": "sandbox.kind",
}


def add(parser: argparse.ArgumentParser, *, model: bool = True) -> None:
    """Adds `--root`, `--set` and flags for the most common settings; `model`: does the command use a model?"""
    parser.add_argument("--root", metavar="FOLDER", help="the workspace (default: found from the current folder)")
    if model:
        parser.add_argument(
            "--model", metavar="NAME", help="local, a litellm name such as ollama/llama3.2, scripted:FILE"
        )
    parser.add_argument("--sandbox", metavar="KIND", help="auto, bubblewrap, docker or none")
    parser.add_argument(
        "--set", dest="assignments", metavar="KEY=VALUE", action="append", default=[], help="any setting (repeatable)"
    )


def load(arguments: argparse.Namespace, root: Path | None, *, cwd: Path) -> Settings:
    """Merges all sources of settings; warns of each rejected key or prompt. Raises `SettingsError`."""
    table: dict[str, Any] = configuration.parse_assignments(arguments.assignments)
    for flag, key in _ALIASES.items():
        value = getattr(arguments, flag, None)
        if value is not None:
            table[key] = value
    if isinstance(table.get("model"), str):
        table["model"] = _absolute_model(table["model"], cwd)
    settings, warnings = configuration.load(root, command_line=table)
    for sentence in [*warnings, *templates.list_unusable()]:
        print_warning(sentence)
    return settings


def _absolute_model(model: str, cwd: Path) -> str:
    """A file on the command line is relative to the current folder, not to the workspace's root."""
    kind, colon, file = model.partition(":")
    return f"{kind}:{cwd / file}" if colon and kind in ("scripted", "replay") else model
