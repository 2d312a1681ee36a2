"""`greenloop stop`: an agent says why it ends its turn although its change is not verified."""

from __future__ import annotations

import argparse
from pathlib import Path

from greenloop.cli import exit_codes, options
from greenloop.core.errors import UsageError, WorkspaceError
from greenloop.plugins.agents.commands import gate

SUMMARY = "let an agent say why its change stays unverified"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--because", required=True, metavar="TEXT", help="the reason, which is shown to the user")
    parser.add_argument("--root", metavar="FOLDER", help="the workspace (default: found from the current folder)")


def run(arguments: argparse.Namespace) -> int:
    if not (reason := " ".join(arguments.because.split())):
        raise UsageError("--because is empty.", remedy="Name the contradiction, or what is missing.")
    root, _target = options.locate(arguments.root, None, cwd=Path.cwd())
    try:
        gate.write_notes(root, {**gate.read_notes(root), "stop": reason[:1000]})
    except OSError as error:
        raise WorkspaceError(f"The reason cannot be kept ({error.strerror}).", remedy="Tell the user.") from error
    print("Noted. End your turn: the user sees this reason, and what is not verified.")
    return exit_codes.VERIFIED
