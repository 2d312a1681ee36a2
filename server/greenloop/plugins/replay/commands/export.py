"""`greenloop export`: writes a run of the history as a file that other machines can verify."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from greenloop.api.history import History
from greenloop.cli import exit_codes, options
from greenloop.cli.errors import print_warning
from greenloop.cli.outputs import check_writable, write_file
from greenloop.core.errors import UsageError
from greenloop.plugins.replay.export import export_run
from greenloop.plugins.replay.run_file import RunFile, format_run_file

SUMMARY = "write a run as a file that another machine can verify"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run",
        type=options.run_word,
        metavar="RUN",
        help="number of the run in `greenloop history` (`12`, `run:12`), or `last`",
    )
    parser.add_argument("--out", metavar="FILE", help="write the run to FILE (default: standard output)")
    parser.add_argument("--root", metavar="FOLDER", help="`last` is the latest run of this workspace (default: of all)")


def run(arguments: argparse.Namespace) -> int:
    cwd = Path.cwd()
    out = check_writable(cwd / arguments.out, "--out FILE") if arguments.out else None
    root = options.locate(arguments.root, None, cwd=cwd)[0] if arguments.root else None
    number, run_file = _export(arguments.run, root)
    text = format_run_file(run_file)
    if out is None:
        sys.stdout.write(text)
    else:
        write_file(out, text.encode())
        print(f"Run {number} is in {arguments.out}. To verify it on another machine: greenloop verify {out.name}")
    return exit_codes.VERIFIED


def _export(number: int | str, root: Path | None) -> tuple[int, RunFile]:
    with History.open(warn=print_warning) as history:
        if not isinstance(number, int):
            newest = [record for record in history.runs(root) if record.outcome is not None and record.outcome.solved]
            if not newest:
                raise UsageError("No run in the history has a result.", remedy="Run `greenloop fix` first.")
            number = newest[0].id
        record = history.run(number)
        if record is None:
            raise UsageError(f"There is no run {number} in the history.", remedy="`greenloop history` lists them.")
        return number, export_run(record, history.basis(number))
