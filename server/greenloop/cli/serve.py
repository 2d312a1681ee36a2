"""`greenloop serve`: the language server on standard input and output."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    # Editors' client libraries add these by habit; both mean what holds anyway.
    parser.add_argument("--stdio", action="store_true", help="accepted for editors that add it; there is no other way")
    parser.add_argument("--clientProcessId", type=int, default=None, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001
    from greenloop.lsp.server import serve  # noqa: PLC0415 - the other commands need no LSP library

    return int(serve() or 0)
