"""`greenloop serve`: runs the language server on standard input and output."""

from __future__ import annotations

import argparse

LEVELS = ("debug", "info", "warning", "error")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--log-file", metavar="FILE", default="", help="write the log to FILE instead of the state folder"
    )
    parser.add_argument(
        "--log-level",
        choices=LEVELS,
        default="",
        help="how much to log (default: warning); debug also logs source code",
    )
    # Editors' client libraries add these; neither changes anything.
    parser.add_argument("--stdio", action="store_true", help="accepted because some editors add it; the default")
    parser.add_argument("--clientProcessId", type=int, default=None, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    from greenloop.lsp.server import serve  # noqa: PLC0415 - the other commands need no LSP library

    return int(serve(log_level=arguments.log_level, log_file=arguments.log_file) or 0)
