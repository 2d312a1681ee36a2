"""`greenloop explain`: what fails where, the values at it, and what is most likely at fault. No model is asked."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

from greenloop.api.testing import Explanation, explain
from greenloop.cli import exit_codes, interrupt, options, render
from greenloop.cli.screen import open_view
from greenloop.cli.width import break_lines
from greenloop.plugins.agents.short_texts import describe_explanation

SUMMARY = "show where a test fails and what is most likely at fault, without a model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", metavar="TEST", help="pytest node id, or file.py::function for the tests of a function"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options.add(parser, model=False)


def run(arguments: argparse.Namespace) -> int:
    cwd = Path.cwd()
    root, target = options.locate(arguments.root, arguments.target, cwd=cwd)
    settings = options.load(arguments, root, cwd=cwd)
    try:
        with open_view(json=arguments.json) as view:
            found = interrupt.run(
                explain(root, target or "", settings=settings, report_status=view.report_status), before_exit=view.close
            )
    except asyncio.CancelledError:
        return exit_codes.CANCELLED
    if arguments.json:
        print(json.dumps(to_object(found)))
    else:
        text = "\n".join(map(render.escape_controls, describe_explanation(found)))
        print(break_lines(text, sys.stdout))
        if not found.baseline.passing and not found.baseline.fault:
            failing = next(each.id for each in found.baseline.attempt.verdict.cases if not each.passed)
            case = render.escape_controls(failing)
            print(f"\n`greenloop fix {case}` looks for a change that makes it pass.")
    return exit_codes.VERIFIED if found.baseline.passing else exit_codes.NOT_SOLVED


def to_object(found: Explanation) -> dict[str, object]:
    """The same for programs."""
    baseline = found.baseline
    return {
        "passes": baseline.passing,
        "not_in_the_code": f"{baseline.fault} {baseline.remedy}".strip(),
        "failing": [
            {"id": case.id, "error": case.failure.type, "message": case.failure.message}
            if case.failure
            else {"id": case.id}
            for case in baseline.attempt.verdict.cases
            if not case.passed
        ],
        "values": [{**asdict(each.place), "code": each.code, "values": dict(each.values)} for each in found.frames],
        "suspects": [
            {"path": each.path, "name": each.qualname, "start": each.start, "end": each.end} for each in found.suspects
        ],
        "lines": [asdict(line) for line in found.lines],
    }
