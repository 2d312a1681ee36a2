"""`greenloop mcp`: serves the engine to agents by the Model Context Protocol."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import secrets
import sys
from pathlib import Path

from greenloop.api.installation import extra_command
from greenloop.cli import exit_codes, options
from greenloop.core.errors import CannotVerifyError, UsageError

SUMMARY = "serve agents through the Model Context Protocol"
TOKEN = "GREENLOOP_MCP_TOKEN"  # noqa: S105 - the variable's name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root",
        metavar="FOLDER",
        action="append",
        default=[],
        help="a folder that the client may use (repeatable; default: the project of the current folder)",
    )
    parser.add_argument(
        "--http",
        type=int,
        metavar="PORT",
        help=f"serve on 127.0.0.1 instead of standard input and output; the token is that of {TOKEN}, or is printed",
    )
    options.add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    try:
        from greenloop.plugins.agents.mcp import server  # noqa: PLC0415 - an optional library that no other command needs
        from greenloop.plugins.agents.service import Service  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types", "uvicorn"}:
            raise
        raise CannotVerifyError(
            "The library for the Model Context Protocol (mcp) is not installed.",
            remedy=f"Install it: {extra_command('mcp')}",
        ) from error
    if arguments.http is not None and not 1 <= arguments.http <= 65535:
        raise UsageError("--http takes a port from 1 to 65535.")
    cwd = Path.cwd()
    roots = tuple(options.locate(root, None, cwd=cwd)[0] for root in arguments.root or [None])
    options.load(arguments, roots[0], cwd=cwd)  # a wrong setting ends the start, not every call
    service = Service(roots=roots, overrides=options.settings_table(arguments, cwd=cwd))
    with contextlib.suppress(KeyboardInterrupt):
        if arguments.http is None:
            asyncio.run(server.build_server(service).run_stdio_async())
        else:
            asyncio.run(server.serve_http(service, arguments.http, _token(arguments.http)))
    return exit_codes.VERIFIED


def _token(port: int) -> str:
    if not (token := os.environ.get(TOKEN, "")):
        token = secrets.token_urlsafe(32)
        print(f"http://127.0.0.1:{port}/mcp, Authorization: Bearer {token}", file=sys.stderr, flush=True)
    return token
