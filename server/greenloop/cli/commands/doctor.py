"""`greenloop doctor`: checks what a run needs on this machine, a line for each finding, or as JSON.

Each part that is missing has one remedy. `greenloop` without a command shows the same, and what to do next.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from greenloop.api.health import DoctorFinding, can_run, doctor, missing_parts, status_word, summary
from greenloop.api.installation import own_command
from greenloop.api.settings import load_settings
from greenloop.cli import exit_codes, interrupt, options, render
from greenloop.cli.errors import print_warning
from greenloop.cli.width import fit, terminal_width, wrap_words
from greenloop.core import entry_points
from greenloop.core.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add(parser)
    parser.add_argument(
        "--quick", action="store_true", help="skip the checks of each sandbox's isolation (docs/security.md)"
    )
    parser.add_argument("--all", action="store_true", help="show every check, even those that are not needed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    cwd = Path.cwd()
    workspace_row, root = find_workspace(arguments.root, cwd)
    settings = options.load(arguments, root, cwd=cwd)
    try:
        rows = [*interrupt.run(doctor(root, settings, promises=not arguments.quick)), workspace_row]
    except asyncio.CancelledError:
        return exit_codes.CANCELLED
    if arguments.json:
        print(json.dumps({"ok": can_run(rows), "rows": [asdict(row) for row in rows]}))
    else:
        print_rows(rows, everything=arguments.all)
    return exit_codes.VERIFIED if can_run(rows) else exit_codes.CANNOT_VERIFY


def find_workspace(root: str | None, cwd: Path) -> tuple[DoctorFinding, Path]:
    """The workspace and its row; without a workspace, the other checks use `cwd`."""
    try:
        folder, _target = options.locate(root, None, cwd=cwd)
    except UsageError as error:
        return DoctorFinding(part="workspace", name="", ok=False, detail=str(error), remedy=error.remedy), cwd
    return DoctorFinding(part="workspace", name=folder.name, ok=True, detail=str(folder)), folder


def print_rows(rows: list[DoctorFinding], *, everything: bool) -> None:
    """Prints a line for each finding, and one closing sentence, on standard output."""
    width = terminal_width()
    print("\n".join([*list_rows(rows if everything else shown_rows(rows), width), *wrap_words(summary(rows), width)]))
    if not everything and len(shown_rows(rows)) < len(rows):
        print("`greenloop doctor --all` shows everything that was checked.")


def shown_rows(rows: list[DoctorFinding]) -> list[DoctorFinding]:
    """The findings that count: of each part the usable ones, or all where none is; promises are one."""
    usable = {row.part for row in rows if row.ok}
    shown = [row for row in rows if row.part not in ("promise", "key", "setting")]
    shown = [row for row in shown if row.ok or (row.ok is False and (row.part not in usable or row.part == "history"))]
    promises = [row for row in rows if row.part == "promise" and row.ok is not None]
    if not promises:
        return shown
    counts = Counter(map(status_word, promises))
    detail = ", ".join(f"{count} {word}" for word, count in counts.items())
    broken = [row for row in promises if row.ok is False]
    promise = DoctorFinding(part="promise", name="", ok=not broken, detail=f"{detail} (docs/security.md)")
    return [*shown, promise, *broken]


def list_rows(rows: list[DoctorFinding], width: int) -> list[str]:
    """A line for each finding, no wider than this, and its remedy below."""
    words = [status_word(row) for row in rows]
    first, second = (max(map(len, column), default=0) for column in (words, [row.part for row in rows]))
    lines = []
    for word, row in zip(words, rows, strict=True):
        detail = ": ".join(filter(None, [row.name, row.detail]))
        lines.append(fit(f"{word:{first}}  {row.part:{second}}  {render.escape_controls(detail)}", width))
        if row.remedy:
            lines += wrap_words(f"-> {render.escape_controls(row.remedy)}", width, indent=first + second + 4)
    return lines


def show_start_page() -> int:
    """`greenloop` without a command: the table, then what to do next on this machine."""
    workspace_row, root = find_workspace(None, Path.cwd())
    settings, warnings = load_settings(root)
    for sentence in warnings:
        print_warning(sentence)
    try:
        rows = [*interrupt.run(doctor(root, settings)), workspace_row]
    except asyncio.CancelledError:
        return exit_codes.CANCELLED
    print_rows(rows, everything=False)
    print("\nNext:")
    steps = [row.remedy for row in rows if row.part in missing_parts(rows) and row.ok is False and row.remedy]
    width = terminal_width()
    for remedy in dict.fromkeys(steps):
        print("\n".join(wrap_words(remedy, width, indent=2)))
    rows_of_commands: list[tuple[tuple[str, ...], str]] = [
        (("fix",), "fix the first failing test of this project"),
        (("fix", "tests/test_x.py::test_y"), "fix this test; also file.py::function and file.py:LINE"),
    ]
    for module in entry_points.load_all(entry_points.DOCTOR):
        rows_of_commands += module.list_first_steps()
    lines = [(own_command("greenloop", *words), purpose) for words, purpose in rows_of_commands]
    longest = max(len(line) for line, _purpose in lines)
    for line, purpose in lines:
        beside = f"  {line:{longest}}    {purpose}"
        print(beside if len(beside) <= width else "\n".join([f"  {line}", *wrap_words(purpose, width, indent=6)]))
    return exit_codes.VERIFIED if can_run(rows) else exit_codes.CANNOT_VERIFY
