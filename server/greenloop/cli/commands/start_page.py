"""`greenloop` without a command: the doctor's table, then what to do next on this machine."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from greenloop.cli import exit_codes, interrupt
from greenloop.cli.commands import doctor
from greenloop.cli.editors import command, installed_editors
from greenloop.cli.errors import print_warning
from greenloop.engine.doctor import report
from greenloop.project import configuration


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001
    workspace_row, root = doctor.find_workspace(None, Path.cwd())
    settings, warnings = configuration.load(root)
    for sentence in warnings:
        print_warning(sentence)
    try:
        rows = [*interrupt.run(report.examine(root, settings)), workspace_row]
    except asyncio.CancelledError:
        return exit_codes.CANCELLED
    doctor.print_rows(rows)
    print("\nNext:")
    steps = [row.remedy for row in rows if row.part in report.missing_parts(rows) and row.ok is False and row.remedy]
    for remedy in dict.fromkeys(steps):
        print(f"  {remedy}")
    print("  greenloop fix                            fix the first failing test of this project")
    print("  greenloop fix tests/test_x.py::test_y    fix this test; also file.py::function and file.py:LINE")
    for editor in installed_editors():
        print(f"\n{editor.name}: greenloop setup {editor.name}" + (" --write" if editor.config_file else ""))
        print("".join(f"    {line}" for line in editor.snippet(command()).splitlines(keepends=True)), end="")
    return exit_codes.VERIFIED if report.can_run(rows) else exit_codes.CANNOT_VERIFY
