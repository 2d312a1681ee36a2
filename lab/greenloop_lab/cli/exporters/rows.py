"""Options and messages of exporting runs as rows that others can learn from; the same for history and harness.

It must not know what a row has.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from greenloop.cli import exit_codes
from greenloop.core import registry
from greenloop.core.errors import UsageError
from greenloop.engine.history.store import History
from greenloop_lab.engine.history import row_files
from greenloop_lab.engine.history.learning import PART, Export, read_wanted
from greenloop_lab.engine.history.steps import stored_trajectories
from greenloop_lab.engine.history.trajectories import Trajectory


def add_arguments(parser: argparse.ArgumentParser, *, out: bool = True) -> None:
    """Adds the options; `out`: the command has no --out of its own."""
    formats = ", ".join(registry.list_parts(PART))
    group = parser.add_argument_group("rows to learn from")
    group.add_argument("--as", dest="kind", metavar="FORMAT", help=f"write rows of this format: {formats}")
    group.add_argument("--verified", action="store_true", help="only runs whose result was fully verified")
    group.add_argument("--hard-negatives", action="store_true", help="only code that looked right but was refused")
    group.add_argument("--select", choices=("diverse",), help="the most diverse rows; needs -n")
    group.add_argument("-n", dest="count", type=int, metavar="N", help="how many rows --select takes")
    if out:
        group.add_argument(
            "--out", metavar="FILE", help="a new file: JSON Lines, or Parquet for *.parquet (default: standard output)"
        )


def is_wanted(arguments: argparse.Namespace) -> bool:
    """Does the command line ask for rows?"""
    names = ("kind", "verified", "hard_negatives", "select", "count", "out")
    return any(getattr(arguments, name) not in (None, False) for name in names)


def export_history(arguments: argparse.Namespace, history: History, root: Path | None) -> int:
    """Writes the rows of stored runs. Raises `UsageError` as `export` does."""
    return export(arguments, lambda: stored_trajectories(history, root, arguments.run), origin="the history")


def export(arguments: argparse.Namespace, runs: Callable[[], Iterable[Trajectory]], *, origin: str) -> int:
    """Writes the rows of these runs. `origin` is the place of the runs, for sentences: `the history`.

    Raises `UsageError` before a run is read where the options or the file cannot be used, and where there is no row.
    """
    wanted = read_wanted(
        arguments.kind,
        verified=arguments.verified,
        hard=arguments.hard_negatives,
        select=arguments.select,
        count=arguments.count,
    )
    rows = Export(runs=runs, wanted=wanted).rows()
    if arguments.out is None:
        if row_files.write_lines(rows, sys.stdout.buffer) == 0:
            raise _nothing(origin, wanted.verified)
        sys.stdout.buffer.flush()
        return exit_codes.VERIFIED
    path = Path(arguments.out)
    row_files.check_file(path)
    count = row_files.write_rows(rows, wanted.row, path)
    if not count:
        raise _nothing(origin, wanted.verified)
    print(f"{count} row{'s' if count != 1 else ''} in {path}")
    return exit_codes.VERIFIED


def _nothing(origin: str, verified: bool) -> UsageError:
    if verified:
        return UsageError(f"No fully verified run of {origin} gives such a row.", remedy="Leave out --verified.")
    return UsageError(
        f"No run of {origin} gives such a row.", remedy="Choose another format with --as; trajectory has every run."
    )
