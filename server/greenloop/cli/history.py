"""`greenloop history`: earlier runs, one run with its attempts and diff, all of it as JSON, a result written later."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from greenloop.cli import apply, codes, show, where
from greenloop.cli.live import coloured_diff, table
from greenloop.cli.problems import warn
from greenloop.cli.view import View
from greenloop.core.errors import GreenloopError, UsageProblem, WorkspaceProblem
from greenloop.core.nouns import Outcome
from greenloop.history import History, Record
from greenloop.notebook import of_run, recovered, titled, unlined


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", metavar="FOLDER", help="runs of this workspace only (default: all)")
    parser.add_argument("--limit", type=int, metavar="N", default=20, help="how many runs to list (default: 20)")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    one = actions.add_parser("show", help="one run: its attempts, its result, its diff")
    one.add_argument("run", type=int, nargs="?", metavar="RUN", help="number of the run (default: the newest)")
    everything = actions.add_parser("export", help="runs as JSON, one a line, oldest first")
    everything.add_argument("run", type=int, nargs="?", metavar="RUN", help="this run only")
    later = actions.add_parser("apply", help="write the result of a run into its files")
    later.add_argument("run", type=int, nargs="?", metavar="RUN", help="number of the run (default: the newest)")
    later.add_argument("--yes", action="store_true", help="do not ask")


def run(arguments: argparse.Namespace) -> int:
    history = History.open(warn=warn)
    try:
        match arguments.action:
            case None:
                return _list(history, arguments)
            case "show":
                return _show(_wanted(history, arguments))
            case "export":
                return _export(history, arguments)
            case _:
                return _apply(history, _wanted(history, arguments), yes=arguments.yes)
    finally:
        history.close()


def _root(arguments: argparse.Namespace) -> Path | None:
    return where.locate(arguments.root, None, cwd=Path.cwd())[0] if arguments.root else None


def _list(history: History, arguments: argparse.Namespace) -> int:
    records = history.runs(_root(arguments), limit=max(arguments.limit, 1))
    if not records:
        print("No runs yet.")
        return codes.VERIFIED
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("run", "when", "target", "result", "attempts", "model", "workspace"):
        grid.add_column(name, overflow="fold" if name in ("target", "workspace") else "ellipsis")
    for record in records:
        cells = (
            str(record.id),
            show.moment(record.started),
            titled(Path(record.root), record.target),
            _result(record),
            str(record.count),
            record.model,
            record.root,
        )
        grid.add_row(*(Text(show.clean(cell)) for cell in cells))
    Console(highlight=False).print(grid)
    return codes.VERIFIED


def _result(record: Record) -> str:
    outcome = record.outcome
    if outcome is None:
        return record.state
    told = show.WORDS[outcome.verified] if outcome.solved else f"not solved ({outcome.reason.value})"
    return f"{told}, written" if record.applied else told


def _wanted(history: History, arguments: argparse.Namespace) -> Record:
    number = arguments.run
    if number is None:
        newest = history.runs(_root(arguments), limit=1)
        if not newest:
            raise UsageProblem("The history is empty.", remedy="Run `greenloop fix` first.")
        number = newest[0].id
    record = history.run(number)
    if record is None:
        raise UsageProblem(f"There is no run {number} in the history.", remedy="`greenloop history` lists them.")
    return record


def _show(record: Record) -> int:
    console = Console(highlight=False)
    target = titled(Path(record.root), record.target)
    head = f"run {record.id}, {show.moment(record.started)}, {_result(record)}\n{target}\n{record.root}"
    console.print(Text(show.clean(head)), soft_wrap=True)
    console.print(Text(show.clean(f"model {record.model}, preset {record.preset}, sandbox {record.sandbox}")))
    console.print()
    outcome, named = _in_cells(record)
    console.print(table(list(record.attempts), named))
    if outcome is None:
        return codes.VERIFIED
    console.print()
    console.print(Text(named(show.verdict(outcome))), soft_wrap=True)
    if diff := named(show.diff(outcome.before, outcome.after)):
        console.print(coloured_diff(diff), soft_wrap=True)
    return codes.VERIFIED


def _in_cells(record: Record) -> tuple[Outcome | None, Callable[[str], str]]:
    """What a run in a notebook came to, and names of lines, in the words of its cells as long as they are the same."""
    outcome = record.outcome

    def named(text: str) -> str:
        return unlined(Path(record.root), record.target, text)

    if outcome is None:
        return None, named
    with suppress(GreenloopError):
        for path in outcome.after:
            if found := of_run(Path(record.root), path, outcome):
                return found[0].shown(outcome), found[0].named
    return outcome, named


def _export(history: History, arguments: argparse.Namespace) -> int:
    if arguments.run is not None:
        _wanted(history, arguments)
    for value in history.export(arguments.run):
        sys.stdout.write(json.dumps(value, ensure_ascii=True) + "\n")
    return codes.VERIFIED


def _apply(history: History, record: Record, *, yes: bool) -> int:
    """Only over the very texts the run saw: what changed since was never tested with it."""
    outcome = record.outcome
    if outcome is None or not outcome.after:
        raise UsageProblem(
            f"Run {record.id} has no result to write.", remedy=f"See `greenloop history show {record.id}`."
        )
    _show(record)
    if not yes and not (View.can_ask() and View.ask("apply?")):
        if not View.can_ask():
            raise UsageProblem("Nobody is there to say yes.", remedy="Add --yes.")
        return codes.NOT_SOLVED
    root = Path(record.root)
    if not root.is_dir():
        raise WorkspaceProblem(f"The workspace {root} is not there any more.")
    written = apply.write(root, recovered(root, outcome))
    history.applied(record.id)
    print(f"written: {', '.join(map(show.clean, written)) or 'nothing, it stood there already'}")
    return codes.VERIFIED
