"""`greenloop explain`: what fails where, the values at it, and what is most likely at fault. No model is asked."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from greenloop.api.testing import Explanation, explain
from greenloop.cli import exit_codes, interrupt, options, render
from greenloop.cli.screen import open_view

SUSPECTS = 5
MESSAGE = 7  # lines of a message: the values that an assertion compared
VALUES = 8  # of a frame
LONGEST = 60  # characters of a value


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
        print("\n".join(map(render.escape_controls, describe(found))))
    return exit_codes.VERIFIED if found.baseline.passing else exit_codes.NOT_SOLVED


def describe(found: Explanation) -> Iterator[str]:
    """The lines that a person reads."""
    baseline = found.baseline
    if baseline.passing:
        yield "It passes, so there is nothing to explain."
        return
    for case in (each for each in baseline.attempt.verdict.cases if not each.passed):
        failure = case.failure
        frame = failure.frames[-1] if failure and failure.frames else None
        place = f" ({frame.path}:{frame.line})" if frame else ""
        error = f"{failure.type}: {render.first_line(failure.message)}{place}" if failure else case.outcome
        yield f"{case.id} fails: {error}"
        more = failure.message.strip().splitlines()[1:MESSAGE] if failure else ()
        yield from (f"    {line.strip()}" for line in more if line.strip())
    if baseline.fault:
        yield f"No change of the code can help: {baseline.fault} {baseline.remedy}".strip()
        return
    if found.frames:
        yield "\nValues where it fails:"
    for shown in found.frames:
        yield f"  {shown.place.path}:{shown.place.line} in {shown.place.function}: {shown.code.strip()}"
        for name, value in list(shown.values.items())[:VALUES]:
            yield f"      {name} = {render.first_line(value, LONGEST)}"
    yield "\nMost likely at fault:"
    for number, suspect in enumerate(found.suspects[:SUSPECTS], 1):
        yield f"  {number}. {suspect.qualname}, {suspect.path}:{suspect.start}"
        for line in (each for each in found.lines if each.path == suspect.path):
            if suspect.start <= line.line <= suspect.end:
                yield f"       {line.suspicion:4.2f}  {line.line:>4}  {line.text}"
    if not found.suspects:
        yield "  nothing: no function of the project ran in it"
    yield f"\n`greenloop fix {baseline.attempt.verdict.cases[0].id}` looks for a change that makes it pass."


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
