"""The forms of results that greenloop registers: reports, and a patch."""

from __future__ import annotations

import argparse
from pathlib import Path

from greenloop.cli.outputs import Output, check_writable
from greenloop.plugins.pipelines.patch import PatchFile
from greenloop.plugins.pipelines.reports.report_files import Reports, read_reports


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "verify":
        parser.add_argument("--junit", metavar="FILE", help="the same as --report junit=FILE")
    parser.add_argument(
        "--report",
        dest="reports",
        action="append",
        default=[],
        metavar="KIND[=FILE]",
        help="also write a report: junit=FILE, sarif=FILE, or github for annotations in a workflow (repeatable)",
    )
    if command == "fix":
        parser.add_argument(
            "--patch", metavar="FILE", help="write the accepted results as a patch for `git apply`, without asking"
        )


def open_outputs(arguments: argparse.Namespace, cwd: Path) -> list[Output]:
    junit = [f"junit={arguments.junit}"] if getattr(arguments, "junit", None) else []
    reports = read_reports([*junit, *arguments.reports], cwd)
    outputs: list[Output] = [Reports(reports=reports)] if reports else []
    if patch := getattr(arguments, "patch", None):
        outputs.append(PatchFile(path=check_writable(cwd / patch, "--patch FILE")))
    return outputs
