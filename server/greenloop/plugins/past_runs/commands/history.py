"""`greenloop history`: lists earlier runs, shows one, exports them as JSON, writes a result later."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from rich.console import Console
from rich.text import Text

from greenloop.api import target_adapters
from greenloop.api.history import History, StoredRun, apply_record
from greenloop.cli import exit_codes, interrupt, options, render
from greenloop.cli.attempt_tables import colour_diff, draw_attempts
from greenloop.cli.errors import print_warning
from greenloop.cli.screen import View
from greenloop.cli.width import break_lines, fit, terminal_width
from greenloop.core import entry_points, registry
from greenloop.core.errors import GreenloopError, UsageError
from greenloop.core.records.outcome import Outcome
from greenloop.core.text.diff import diff_files
from greenloop.wording.model import describe_model
from greenloop.wording.outcome import VERIFIED_WORDS, measured_rows

SUMMARY = "show earlier runs and apply their results"
HOT = 20  # maximum lines before and after a change whose costs are listed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", metavar="FOLDER", help="list only runs of this workspace (default: all)")
    parser.add_argument("--limit", type=int, metavar="N", default=20, help="how many runs to list (default: 20)")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    show_parser = actions.add_parser("show", help="show the attempts, the result and the diff of a run")
    options.add_run(show_parser)
    export_parser = actions.add_parser("export", help="print runs as JSON, one per line, oldest first")
    options.add_run(export_parser, default="all")
    exporters = _exporters()
    for exporter in exporters:
        exporter.add_arguments(export_parser)
    if not exporters:
        export_parser.add_argument("--as", dest="kind", help=argparse.SUPPRESS)
    apply_parser = actions.add_parser("apply", help="write the result of a run into its files")
    options.add_run(apply_parser)
    apply_parser.add_argument("--yes", action="store_true", help="do not ask")


def run(arguments: argparse.Namespace) -> int:
    with History.open(warn=print_warning) as history:
        match arguments.action:
            case None:
                return _list(history, arguments)
            case "show":
                return _show(find_record(history, arguments.run, _root(arguments)))
            case "export":
                return _export(history, arguments)
            case _:
                return _apply(find_record(history, arguments.run, _root(arguments)), yes=arguments.yes)


def _root(arguments: argparse.Namespace) -> Path | None:
    return options.locate(arguments.root, None, cwd=Path.cwd())[0] if arguments.root else None


def _list(history: History, arguments: argparse.Namespace) -> int:
    records = history.runs(_root(arguments), limit=max(arguments.limit, 1))
    if not records:
        print("No runs yet.")
        return exit_codes.VERIFIED
    rows = [(str(each.id), render.format_time(each.started), _result(each)) for each in records]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    width = terminal_width()
    for record, cells in zip(records, rows, strict=True):
        first = "  ".join(f"{cell:{size}}" for cell, size in zip(cells, widths, strict=True))
        attempts = f"{record.count} attempt{'s' * (record.count != 1)}"
        model = describe_model(record.model, record.kind)
        target = target_adapters.title(Path(record.root), record.target)
        print(fit(render.escape_controls(f"{first}  {target}  ({attempts}, {model}, {record.root})"), width))
    return exit_codes.VERIFIED


def _result(record: StoredRun) -> str:
    outcome = record.outcome
    if outcome is None:
        return record.state
    text = VERIFIED_WORDS[outcome.verified] if outcome.solved else f"not solved ({outcome.reason.value})"
    return f"{text}, written" if record.applied else text


def find_record(history: History, run: int | str | None, root: Path | None) -> StoredRun:
    """The run of this number; the latest of the workspace for `last` or none. Raises `UsageError`."""
    number = run
    if not isinstance(number, int):
        newest = history.runs(root, limit=1)
        if not newest:
            raise UsageError("The history is empty.", remedy="Run `greenloop fix` first.")
        number = newest[0].id
    record = history.run(number)
    if record is None:
        raise UsageError(f"There is no run {number} in the history.", remedy="`greenloop history` lists them.")
    return record


def _show(record: StoredRun) -> int:
    console = Console(highlight=False)
    target = target_adapters.title(Path(record.root), record.target)
    head = f"Run {record.id}, {render.format_time(record.started)}, {_result(record)}\n{target}\n{record.root}"
    console.print(Text(render.escape_controls(head)), soft_wrap=True)
    console.print(
        Text(
            render.escape_controls(
                f"With {describe_model(record.model, record.kind)}, preset {record.preset}, sandbox {record.sandbox}"
            )
        )
    )
    console.print()
    outcome, label_cells = _with_cell_labels(record)
    console.print(draw_attempts(record.attempts, label_cells))
    if outcome is None:
        return exit_codes.VERIFIED
    console.print()
    for line in (render.outcome_sentence(outcome), *render.outcome_notes(outcome)):
        console.print(Text(break_lines(label_cells(line), console.file)), soft_wrap=True)
    if diff := label_cells(diff_files(outcome.before, outcome.after)):
        console.print(colour_diff(diff), soft_wrap=True)
    if rows := measured_rows(outcome.evidence.data, HOT):
        console.print(Text("\n".join(map(render.escape_controls, ["", *rows]))), no_wrap=True, overflow="ellipsis")
    return exit_codes.VERIFIED


def _with_cell_labels(record: StoredRun) -> tuple[Outcome | None, Callable[[str], str]]:
    """A run's outcome, and a function that labels lines; with cells for a notebook whose cells are unchanged."""
    outcome = record.outcome

    def label_cells(text: str) -> str:
        return target_adapters.label_past(Path(record.root), record.target, text)

    if outcome is None:
        return None, label_cells
    with suppress(GreenloopError):
        adapted = target_adapters.of_run(Path(record.root), outcome)
        if adapted is not target_adapters.UNADAPTED:
            return adapted.show(outcome), adapted.label
    return outcome, label_cells


def _export(history: History, arguments: argparse.Namespace) -> int:
    run = None if arguments.run is None else find_record(history, arguments.run, _root(arguments)).id
    exporters = _exporters()
    if not exporters and arguments.kind is not None:
        raise UsageError(
            "Rows to learn from (`--as`) belong to greenloop's laboratory, which is not installed.",
            remedy=entry_points.INSTALL_LABORATORY,
        )
    for exporter in exporters:
        if exporter.is_wanted(arguments):
            root = _root(arguments)
            if not history.ids(root):
                raise UsageError("The history has no run to export.", remedy="Run `greenloop fix` first.")
            code: int = exporter.export_history(arguments, history, root)
            return code
    for value in history.export(run):
        sys.stdout.write(json.dumps(value, ensure_ascii=True) + "\n")
    return exit_codes.VERIFIED


def _exporters() -> list[ModuleType]:
    """Other forms in which installed packages write runs."""
    return [registry.load_part("exporters", name) for name in registry.list_parts("exporters")]


def file_outcome(record: StoredRun) -> Outcome | None:
    """The result of a run with the texts of the user's files."""
    outcome, root = record.outcome, Path(record.root)
    if outcome is None or not outcome.after or not root.is_dir():
        return outcome
    return target_adapters.of_run(root, outcome).to_files(outcome)


def _apply(record: StoredRun, *, yes: bool) -> int:
    """Writes a result; texts that changed since the run are merged, and its tests run again over them."""
    outcome = record.outcome
    if outcome is not None and outcome.after:
        _show(record)
        if not yes and not (View.can_ask() and View.ask_yes_no("Apply this change?")):
            if not View.can_ask():
                raise UsageError("There is no terminal to ask for confirmation.", remedy="Add --yes.")
            return exit_codes.NOT_SOLVED
    written = interrupt.run(apply_record(record, outcome=file_outcome(record), report_status=print_warning))
    print(f"Written: {', '.join(map(render.escape_controls, written)) or 'nothing, the file already has the result'}")
    return exit_codes.VERIFIED
