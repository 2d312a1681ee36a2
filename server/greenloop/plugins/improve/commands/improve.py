"""`greenloop improve`: makes a function that passes its tests faster, smaller, simpler, or as a comment asks."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from greenloop.cli.commands import fix
from greenloop.core.aims import Aim
from greenloop.core.errors import UsageError
from greenloop.plugins.improve.aims import AIMS, Goal

SUMMARY = "make passing code faster or smaller, or change it as a comment asks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "targets", nargs=1, metavar="TARGET", help="file.py::function or file.py:LINE; its tests must pass"
    )
    parser.add_argument(
        "--for",
        dest="goal",
        choices=[goal.value for goal in Goal],
        help="time, memory: measured against the current code; limits: those of the setting spec.constraints; "
        "comment: as --comment or a comment in the code asks (default: comment with --comment, otherwise "
        "time)",
    )
    parser.add_argument("--inputs", metavar="FILE", help="file of calls to measure, one Python expression per line")
    fix.add_run_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    arguments.all, arguments.since = False, None

    def read_aim() -> Aim | None:
        goal = Goal(arguments.goal or (Goal.COMMENT if arguments.comment else Goal.TIME))
        if arguments.inputs and goal is Goal.COMMENT:
            raise UsageError(
                "--inputs names calls to measure or compare; with a comment nothing is.", remedy="Leave it out."
            )
        aim, calls = AIMS[goal.value], _read(arguments.inputs) if arguments.inputs else ""
        return replace(aim, options={**aim.options, "calls": calls})

    return fix.run(arguments, read_aim)


def _read(file: str) -> str:
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The file of --inputs cannot be read: {error}", remedy="Name a text file.") from error
    if not text.strip():
        raise UsageError(
            f"{file} has no calls.", remedy="Write one call in each line, such as `f(list(range(10000)))`."
        )
    return text
