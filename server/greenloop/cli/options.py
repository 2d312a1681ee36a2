"""Defines the options that several subcommands share, loads their settings, and finds workspace and target.

Paths are typed relative to the current folder.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from greenloop.api import target_adapters
from greenloop.api.settings import Settings, load_settings, parse_assignments
from greenloop.api.workspace import find_root
from greenloop.cli.errors import print_warning
from greenloop.core.errors import UsageError

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
    """Adds `--root` and the options of `add_settings`; `model`: does the command use a model?"""
    parser.add_argument("--root", metavar="FOLDER", help="the workspace (default: found from the current folder)")
    add_settings(parser, model=model)


def add_settings(parser: argparse.ArgumentParser, *, model: bool = True) -> None:
    """Adds `--set` and flags for the most common settings."""
    if model:
        parser.add_argument(
            "--model", metavar="NAME", help="local, local/NAME, provider/model such as ollama/llama3.2, scripted:FILE"
        )
    parser.add_argument("--sandbox", metavar="KIND", help="auto, bubblewrap, docker, ray or none")
    parser.add_argument(
        "--set", dest="assignments", metavar="KEY=VALUE", action="append", default=[], help="any setting (repeatable)"
    )


def load(
    arguments: argparse.Namespace, root: Path | None, *, cwd: Path, implied: Mapping[str, Any] | None = None
) -> Settings:
    """Merges all sources of settings; warns of each rejected key or prompt. Raises `SettingsError`.

    `implied` are those that an option of the command alone stands for.
    """
    table = {**settings_table(arguments, cwd=cwd), **(implied or {})}
    settings, warnings = load_settings(root, table)
    for sentence in warnings:
        print_warning(sentence)
    return settings


def settings_table(arguments: argparse.Namespace, *, cwd: Path) -> dict[str, Any]:
    """The settings that the command line names, by key. Raises `SettingsError` for an assignment without a key."""
    table: dict[str, Any] = parse_assignments(arguments.assignments)
    for flag, key in _ALIASES.items():
        value = getattr(arguments, flag, None)
        if value is not None:
            table[key] = value
    if isinstance(model := table.get("model"), str):
        kind, colon, file = model.partition(":")
        # A file on the command line is relative to the current folder, not to the workspace's root.
        table["model"] = f"{kind}:{cwd / file}" if colon and kind in ("scripted", "replay") else model
    return table


def locate(root: str | None, target: str | None, *, cwd: Path) -> tuple[Path, str | None]:
    """The workspace, and the target with its path relative to it.

    Without `root` it is the nearest folder above with a project file or a repository, else `cwd`.
    Raises `UsageError` for a root that is not a folder, a file outside it, and when it would be `/` or the home
    folder.
    """
    named = Path(os.path.abspath(cwd / split_target(target)[0])) if target else None  # noqa: PTH100
    path = named if named is not None and named.exists() else None
    if root is not None:
        folder = Path(os.path.abspath(cwd / root))  # noqa: PTH100 - keeps symlinks, as the user typed them
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder.", remedy="Name the workspace's folder with --root.")
    else:
        inside = path is None or path.is_relative_to(cwd)
        folder = find_root(cwd if inside or path is None else path.parent)
    return folder, _relative(target, path, folder)


def run_number(word: str) -> int | None:
    """The number of a run in the history (`12`, `run:12`); None where the word is not one."""
    match = re.fullmatch(r"(?:run:)?(\d{1,18})", word, re.ASCII)
    return int(match[1]) if match else None


LAST = "last"


def add_run(parser: argparse.ArgumentParser, purpose: str = "", *, default: str = "the latest") -> None:
    """Adds the positional RUN: a number (`12`, `run:12`) or `last`; None where it is left out."""
    text = f"number of the run (`12`, `run:12`), or `last`; default: {default}"
    parser.add_argument("run", type=run_word, nargs="?", metavar="RUN", help=f"{purpose}{text}")


def run_word(word: str) -> int | str:
    """The number of a run, or `last`. Raises `argparse.ArgumentTypeError`."""
    return LAST if word == LAST else run_number_of(word)


def run_number_of(word: str) -> int:
    """The number of a run, for an option. Raises `argparse.ArgumentTypeError`."""
    number = run_number(word)
    if number is None:
        raise argparse.ArgumentTypeError(f"'{word}' is not the number of a run")
    return number


def split_target(target: str) -> tuple[str, str]:
    """Splits a typed target into its file and the rest (`::name`, `:LINE`, or `:CELL` of a notebook)."""
    file, colons, name = target.partition("::")
    if colons:
        return file, "::" + name
    if line := re.fullmatch(r"(.+\.pyi?):(\d+)(?::\d+)?", target):
        return line[1], ":" + line[2]
    file, colon, cell = target.rpartition(":")
    return (file, colon + cell) if colon and target_adapters.find_adapter(file) else (target, "")


def _relative(target: str | None, path: Path | None, root: Path) -> str | None:
    if target is None or path is None:
        # Not a file relative to `cwd`: it may be one relative to the root; if not, the engine suggests the closest.
        return target
    for file, folder in ((path, root), (path.resolve(), root.resolve())):
        if file.is_relative_to(folder):
            return file.relative_to(folder).as_posix() + split_target(target)[1]
    raise UsageError(f"{path} is outside the workspace {root}.", remedy="Name the workspace's folder with --root.")
