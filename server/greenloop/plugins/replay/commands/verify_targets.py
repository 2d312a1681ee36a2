"""Targets of `greenloop verify` other than the working tree: runs of the history, and exported runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from greenloop.api.result_files import write_texts
from greenloop.cli import interrupt, options, render
from greenloop.cli.attempt_tables import print_diff
from greenloop.cli.commands.verify import Check, load_settings
from greenloop.cli.errors import print_warning
from greenloop.core.errors import UsageError, WorkspaceError
from greenloop.core.text.diff import diff_files
from greenloop.engine.verify.report import Verification
from greenloop.plugins.replay.replay import replay
from greenloop.plugins.replay.verify_file import verify_run_file

__all__ = ["add_arguments", "find", "replay"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--apply", action="store_true", help="write the change of an exported run if it is verified here"
    )


def find(arguments: argparse.Namespace, cwd: Path) -> Check | None:
    """The function that verifies the past or exported run that was typed; None for other targets."""
    number, file = run_number(arguments.targets, cwd), _exported_run(arguments.targets, cwd)
    if arguments.apply and file is None:
        raise UsageError("--apply needs an exported run.", remedy="Name its file: `greenloop verify FILE --apply`.")
    if file is not None:
        return partial(_verify_file, arguments, file, cwd)
    return (lambda: (_replay(arguments, number, cwd), None)) if number is not None else None


def run_number(targets: Sequence[str], cwd: Path) -> int | None:
    """The number of a past run if one was typed; a file whose name is a number takes precedence.

    Raises `UsageError` for a run together with other targets.
    """
    words = [word for word in targets if word.startswith("run:") or not (cwd / word).exists()]
    number = next((word for word in words if options.run_number(word) is not None), "")
    _require_alone(number, targets, "a run in the history")
    return options.run_number(number)


def _exported_run(targets: Sequence[str], cwd: Path) -> Path | None:
    """The exported run that was typed, if any. Raises `UsageError` for one together with other targets."""
    file = next((word for word in targets if word.endswith(".json") and "::" not in word), "")
    _require_alone(file, targets, "an exported run")
    return cwd / file if file else None


def _require_alone(word: str, targets: Sequence[str], kind: str) -> None:
    if word and len(targets) > 1:
        raise UsageError(f"{word} is {kind} and cannot be combined with other targets.", remedy="Verify it on its own.")


def _verify_file(arguments: argparse.Namespace, file: Path, cwd: Path) -> tuple[Verification, Sequence[str] | None]:
    """The result for an exported run, and the files that were written."""
    _refuse_options(arguments, "an exported run")
    root, _target = options.locate(arguments.root, None, cwd=cwd)
    result, change = interrupt.run(
        verify_run_file(
            file,
            root,
            settings=load_settings(arguments, root, cwd),
            seconds=arguments.run_seconds or 0.0,
            report_status=_report_status,
        )
    )
    if not arguments.json and (diff := diff_files(change.current, change.after)):
        print_diff(diff)
    if not (arguments.apply and result.verified):
        return result, () if arguments.apply else None
    try:
        return result, tuple(write_texts(root, change.current, change.after))
    except WorkspaceError as error:
        raise WorkspaceError(str(error), remedy="Nothing was written. Verify the file again.") from error


def _refuse_options(arguments: argparse.Namespace, what: str) -> None:
    """Raises `UsageError` for an option that concerns a commit's tests only."""
    for name in ("base", "staged", "keep", "allow_test_change", "because", "known_failing"):
        if getattr(arguments, name):
            raise UsageError(f"--{name.replace('_', '-')} cannot be combined with {what}.", remedy="Remove it.")


def _replay(arguments: argparse.Namespace, number: int, cwd: Path) -> Verification:
    _refuse_options(arguments, "a run in the history")
    return interrupt.run(
        replay(
            number,
            settings=lambda root: load_settings(arguments, root, cwd),
            seconds=arguments.run_seconds or 0.0,
            require=arguments.require,
            report_status=_report_status,
            warn=print_warning,
        )
    )


def _report_status(sentence: str) -> None:
    print(f"greenloop: {render.escape_controls(sentence)}", file=sys.stderr, flush=True)
