"""`greenloop doctor`: what a run needs, whether it is here, and the one remedy where it is not, as a table or JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict
from pathlib import Path

from greenloop.cli import codes, interrupt, options, show, where
from greenloop.core.errors import UsageProblem
from greenloop.findings import Row, closing, examine, mark, ready


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add(parser)
    parser.add_argument(
        "--quick", action="store_true", help="do not try out what each sandbox promises (docs/security.md)"
    )
    parser.add_argument("--json", action="store_true", help="the findings as one JSON object on standard output")


def run(arguments: argparse.Namespace) -> int:
    cwd = Path.cwd()
    workspace_row, root = find_workspace(arguments.root, cwd)
    settings = options.load(arguments, root, cwd=cwd)
    try:
        rows = [*interrupt.run(examine(root, settings, promises=not arguments.quick)), workspace_row]
    except asyncio.CancelledError:
        return codes.CANCELLED
    if arguments.json:
        print(json.dumps({"ok": ready(rows), "rows": [asdict(row) for row in rows]}))
    else:
        tell(rows)
    return codes.VERIFIED if ready(rows) else codes.CANNOT_VERIFY


def find_workspace(root: str | None, cwd: Path) -> tuple[Row, Path]:
    """The workspace and the finding about it; where there is none, the rest is examined from `cwd`."""
    try:
        folder, _target = where.locate(root, None, cwd=cwd)
    except UsageProblem as error:
        return Row(part="workspace", name="", ok=False, detail=str(error), remedy=error.remedy), cwd
    return Row(part="workspace", name=folder.name, ok=True, detail=str(folder)), folder


def tell(rows: list[Row]) -> None:
    """The table on standard output, and one closing sentence."""
    from rich import box  # noqa: PLC0415 - JSON needs no table
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("", "part", "name", "found", "remedy"):
        grid.add_column(name, overflow="fold")
    styles = {True: "green", False: "red", None: "dim"}
    for row in rows:
        cells = (Text(show.clean(cell)) for cell in (row.part, row.name, row.detail, row.remedy))
        grid.add_row(Text(mark(row), style=styles[row.ok]), *cells)
    console = Console(highlight=False)
    console.print(grid)
    console.print(closing(rows))
