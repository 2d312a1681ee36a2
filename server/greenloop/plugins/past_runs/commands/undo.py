"""`greenloop undo`: puts back the files that a run wrote, unless they have changed since."""

from __future__ import annotations

import argparse
from pathlib import Path

from greenloop.api.history import History, StoredRun, undo_record
from greenloop.cli import exit_codes, options, render
from greenloop.cli.errors import print_warning
from greenloop.core.errors import UsageError
from greenloop.plugins.past_runs.commands.history import file_outcome, find_record

SUMMARY = "restore the files that a run wrote"
MOST = 1000  # runs among which the latest that was written is looked for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_run(parser, default="the latest that was written")
    parser.add_argument("--root", metavar="FOLDER", help="the workspace (default: found from the current folder)")


def run(arguments: argparse.Namespace) -> int:
    root, _target = options.locate(arguments.root, None, cwd=Path.cwd())
    with History.open(warn=print_warning) as history:
        record = (
            find_record(history, arguments.run, root)
            if isinstance(arguments.run, int)
            else _latest_written(history, root)
        )
    paths = undo_record(record, file_outcome(record))
    print(f"Undone: {', '.join(map(render.escape_controls, paths)) or 'nothing, the files were as before'}")
    print(f"`greenloop history apply {record.id}` writes it again.")
    return exit_codes.VERIFIED


def _latest_written(history: History, root: Path) -> StoredRun:
    for record in history.runs(root, limit=MOST):
        if record.applied is not None and (whole := history.run(record.id)) is not None:
            return whole
    raise UsageError("No run of this workspace was written.", remedy="`greenloop history` lists the runs.")
