"""`greenloop doctor`: checks what a run needs on this machine, as a table or as JSON.

Each part that is missing has one remedy. `greenloop` without a command shows the same, and what to do next.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict
from pathlib import Path

from greenloop.api.health import DoctorFinding, can_run, doctor, missing_parts, own_command, status_word, summary
from greenloop.api.settings import load_settings
from greenloop.cli import exit_codes, interrupt, options, render
from greenloop.cli.editors import installed_editors
from greenloop.cli.errors import print_warning
from greenloop.core.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add(parser)
    parser.add_argument(
        "--quick", action="store_true", help="skip the checks of each sandbox's isolation (docs/security.md)"
    )
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
        print_rows(rows)
    return exit_codes.VERIFIED if can_run(rows) else exit_codes.CANNOT_VERIFY


def find_workspace(root: str | None, cwd: Path) -> tuple[DoctorFinding, Path]:
    """The workspace and its row; without a workspace, the other checks use `cwd`."""
    try:
        folder, _target = options.locate(root, None, cwd=cwd)
    except UsageError as error:
        return DoctorFinding(part="workspace", name="", ok=False, detail=str(error), remedy=error.remedy), cwd
    return DoctorFinding(part="workspace", name=folder.name, ok=True, detail=str(folder)), folder


def print_rows(rows: list[DoctorFinding]) -> None:
    """Prints the table and one closing sentence on standard output."""
    from rich import box  # noqa: PLC0415 - JSON needs no table
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("", "part", "name", "found", "remedy"):
        grid.add_column(name, overflow="fold")
    styles = {True: "green", False: "red", None: "dim"}
    for row in rows:
        cells = (Text(render.escape_controls(cell)) for cell in (row.part, row.name, row.detail, row.remedy))
        grid.add_row(Text(status_word(row), style=styles[row.ok]), *cells)
    console = Console(highlight=False)
    console.print(grid)
    console.print(summary(rows))


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
    print_rows(rows)
    print("\nNext:")
    steps = [row.remedy for row in rows if row.part in missing_parts(rows) and row.ok is False and row.remedy]
    for remedy in dict.fromkeys(steps):
        print(f"  {remedy}")
    rows_of_commands = [
        (("fix",), "fix the first failing test of this project"),
        (("fix", "tests/test_x.py::test_y"), "fix this test; also file.py::function and file.py:LINE"),
        *(
            (("setup", editor.name, *(["--write"] if editor.config_file else [])), f"connect {editor.name}")
            for editor in installed_editors()
        ),
    ]
    lines = [(own_command("greenloop", *words), purpose) for words, purpose in rows_of_commands]
    width = max(len(line) for line, _purpose in lines)
    print("".join(f"  {line:{width}}    {purpose}\n" for line, purpose in lines), end="")
    return exit_codes.VERIFIED if can_run(rows) else exit_codes.CANNOT_VERIFY
