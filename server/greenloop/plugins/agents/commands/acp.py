"""`greenloop acp`: serves the engine to an editor as an agent, by the Agent Client Protocol."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from greenloop.api.installation import extra_command
from greenloop.cli import exit_codes, options
from greenloop.core.errors import CannotVerifyError

SUMMARY = "serve editors as an agent, through the Agent Client Protocol"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root",
        metavar="FOLDER",
        action="append",
        default=[],
        help="a folder that the editor may use (repeatable; default: the folders that it opens)",
    )
    options.add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    try:
        from greenloop.plugins.agents.acp import server  # noqa: PLC0415 - an optional library that no other command needs
    except ModuleNotFoundError as error:
        if error.name not in {"acp", "pydantic"}:
            raise
        raise CannotVerifyError(
            "The library for the Agent Client Protocol (agent-client-protocol) is not installed.",
            remedy=f"Install it: {extra_command('acp')}",
        ) from error
    cwd = Path.cwd()
    roots = tuple(options.locate(root, None, cwd=cwd)[0] for root in arguments.root)
    options.load(arguments, roots[0] if roots else None, cwd=cwd)  # a wrong setting ends the start, not every prompt
    agent = server.GreenloopAgent(roots=roots, overrides=options.settings_table(arguments, cwd=cwd))
    asyncio.run(server.serve(agent))
    return exit_codes.VERIFIED
