"""Words that several subcommands share, and the settings they make."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from greenloop import settings as configuration
from greenloop import templates
from greenloop.cli.problems import warn
from greenloop.settings import Settings

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
    """`--root`, `--set` and the short flags for the settings that are used most; `model`: is one asked at all?"""
    parser.add_argument("--root", metavar="FOLDER", help="the workspace (default: found from the current folder)")
    if model:
        parser.add_argument(
            "--model", metavar="NAME", help="local, a litellm name such as ollama/llama3.2, scripted:FILE"
        )
    parser.add_argument("--sandbox", metavar="KIND", help="auto, bubblewrap, docker or none")
    parser.add_argument(
        "--set", dest="assignments", metavar="KEY=VALUE", action="append", default=[], help="any setting; repeatable"
    )


def load(arguments: argparse.Namespace, root: Path | None, *, cwd: Path) -> Settings:
    """All sources merged; a warning on stderr for each key or prompt that was refused. Raises `SettingsProblem`."""
    table: dict[str, Any] = configuration.parse_assignments(arguments.assignments)
    for flag, key in _ALIASES.items():
        value = getattr(arguments, flag, None)
        if value is not None:
            table[key] = value
    if isinstance(table.get("model"), str):
        table["model"] = _absolute(table["model"], cwd)
    settings, warnings = configuration.load(root, command_line=table)
    for sentence in [*warnings, *templates.complaints()]:
        warn(sentence)
    return settings


def _absolute(model: str, cwd: Path) -> str:
    """A file named on the command line is meant from where the user stands, not from the workspace's root."""
    kind, colon, file = model.partition(":")
    return f"{kind}:{cwd / file}" if colon and kind in ("scripted", "replay") else model
