"""Runs the command `greenloop`: parses arguments, calls one subcommand, reports errors.

Each subcommand is imported only when it is used, so that `greenloop --version` and `greenloop serve` start fast.
A plugin or an installed package adds one by an entry point of the group `greenloop.commands`, which names a module like
those of `cli/commands/` with a `SUMMARY`.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

from greenloop import __version__
from greenloop.cli.errors import print_error, report_unexpected
from greenloop.cli.exit_codes import CANCELLED, HELP, NOT_SOLVED, USAGE, VERIFY_HELP
from greenloop.core import entry_points
from greenloop.core.entry_points import EntryPoint
from greenloop.core.errors import GreenloopError, UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line; returns its exit code (see `greenloop --help`)."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that a terminal or pipe cannot show is escaped, never a crash.
            stream.reconfigure(errors="backslashreplace")
    try:
        installed = _installed_commands(words)
        arguments = _parser(words, installed).parse_args(words)
        command = installed.get(arguments.command) or _own_command(arguments.command or "doctor")
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


def _own_command(name: str) -> ModuleType:
    return importlib.import_module(f"greenloop.cli.commands.{name}")


def _installed_commands(words: Sequence[str]) -> dict[str, ModuleType]:
    """The commands of plugins and other packages by name: the one that is asked for, or all where none is known.

    Raises `UsageError` for a command of the laboratory where that is not installed.
    """
    if not words or words[0] in SUMMARIES or words[0] == "--version":
        return {}
    entries: dict[str, EntryPoint] = {}
    for entry in entry_points.find_entry_points(entry_points.COMMANDS):
        entries.setdefault(entry.name, entry)
    if words[0] == LABORATORY and LABORATORY not in entries:
        raise UsageError(
            f"`greenloop {LABORATORY}` belongs to greenloop's laboratory, which is not installed.",
            remedy=entry_points.INSTALL_LABORATORY,
        )
    wanted = [words[0]] if words[0] in entries else entries
    return {name: entry_points.load(entries[name]) for name in wanted if name not in SUMMARIES}


def _parser(words: Sequence[str], installed: Mapping[str, ModuleType]) -> argparse.ArgumentParser:
    """Builds the parser. Only the requested subcommand adds its arguments; the others only need their names."""
    parser = argparse.ArgumentParser(
        prog="greenloop",
        description="Refine until tests pass: a failing test or a docstring goes in, a verified\n"
        "edit comes out. Without a command: checks this machine and says what to do next.",
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"greenloop {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    summaries = SUMMARIES | {name: command.SUMMARY for name, command in installed.items()}
    requested = next((word for word in words if word in summaries), None)
    for name, summary in summaries.items():
        sub = subparsers.add_parser(
            name,
            help=summary,
            description=summary,
            epilog=EPILOGS.get(name),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == requested:
            (installed.get(name) or _own_command(name)).add_arguments(sub)
    return parser


SUMMARIES = {
    "fix": "fix a failing test, or implement a function from its docstring",
    "verify": "run a commit's tests against your working tree, in a way that cannot be faked",
    "serve": "run the language server on standard input and output",
    "doctor": "check what greenloop needs on this machine",
}
LABORATORY = "bench"
EPILOGS = {"fix": HELP, "improve": HELP, "verify": VERIFY_HELP}


def _close_stdout() -> None:
    """The reader is gone: nothing may be written at interpreter exit either."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


if __name__ == "__main__":
    sys.exit(main())
