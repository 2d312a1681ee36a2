"""Runs the command `greenloop`: parses arguments, calls one subcommand, reports errors.

Each subcommand is imported only when it is used, so that `greenloop --version` and `greenloop serve` start fast.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence

from greenloop import __version__
from greenloop.cli.errors import print_error, report_unexpected
from greenloop.cli.exit_codes import CANCELLED, HELP, NOT_SOLVED, USAGE
from greenloop.core.errors import GreenloopError

SUBCOMMANDS = (
    "fix",
    "improve",
    "tests",
    "verify",
    "export",
    "serve",
    "mcp",
    "acp",
    "doctor",
    "setup",
    "model",
    "history",
    "bench",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line; returns its exit code (see `greenloop --help`)."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that a terminal or pipe cannot show is escaped, never a crash.
            stream.reconfigure(errors="backslashreplace")
    try:
        arguments = _parser(words).parse_args(words)
        command = importlib.import_module(f"greenloop.cli.commands.{arguments.command or 'doctor'}")
        code: int = command.run(arguments) if arguments.command else command.show_start_page()
        sys.stdout.flush()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else USAGE
    except GreenloopError as error:
        print_error(error)
        return error.exit_code
    except KeyboardInterrupt:
        print("greenloop: cancelled.", file=sys.stderr)
        return CANCELLED
    except BrokenPipeError:
        _close_stdout()
        return NOT_SOLVED
    except Exception as error:  # noqa: BLE001 - the outermost function: no caller can show it
        report_unexpected(error)
        return NOT_SOLVED
    return code


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Builds the parser. Only the requested subcommand adds its arguments; the others only need their names."""
    parser = argparse.ArgumentParser(
        prog="greenloop",
        description="Refine until tests pass: a failing test or a docstring goes in, a verified edit comes out.\n"
        "Without a command: checks this machine and says what to do next.",
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"greenloop {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    requested = next((word for word in words if word in SUBCOMMANDS), None)
    for name, summary in SUMMARIES.items():
        sub = subparsers.add_parser(
            name, help=summary, description=summary, epilog=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if name == requested:
            importlib.import_module(f"greenloop.cli.commands.{name}").add_arguments(sub)
    return parser


SUMMARIES = {
    "fix": "fix a failing test, or implement a function from its docstring",
    "improve": "make a function that passes its tests faster or simpler, or change it as a comment asks",
    "tests": "show or edit the tests that were generated from a docstring",
    "verify": "run a commit's tests against your working tree, in a way that cannot be faked",
    "export": "write a run as a file that another machine can verify",
    "serve": "run the language server on standard input and output",
    "mcp": "serve agents by the Model Context Protocol",
    "acp": "serve editors as an agent, by the Agent Client Protocol",
    "doctor": "check what greenloop needs on this machine",
    "setup": "connect an editor",
    "model": "manage the embedded model",
    "history": "show earlier runs and apply their results",
    "bench": "compare presets and models on a set of tasks",
}


def _close_stdout() -> None:
    """The reader is gone: nothing may be written at interpreter exit either."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


if __name__ == "__main__":
    sys.exit(main())
