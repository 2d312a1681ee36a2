"""`greenloop fix`: its options, which of them go together, and what all runs of one command line share.

It must not know how the targets are run; `fix_targets` does that.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from greenloop.api import events_json, target_adapters
from greenloop.api.models import recording_opener
from greenloop.api.presets import offered_presets
from greenloop.api.session import UnsolvedRun, read_unsolved_run
from greenloop.api.settings import EDITOR, models
from greenloop.cli import options, outputs
from greenloop.cli.errors import print_error, print_warning
from greenloop.cli.finish import FixJob
from greenloop.cli.fix_targets import fix_targets
from greenloop.cli.outputs import Fix
from greenloop.core.aims import Aim
from greenloop.core.errors import GreenloopError, UsageError

MOST = 10  # tests of one `--since`; a revision long ago may have hundreds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="pytest node id, file.py::function, file.py:LINE, a folder with tests or notebook.ipynb:CELL; several are "
        "fixed one after another (default: the first failing test)",
    )
    parser.add_argument(
        "--types",
        action="store_true",
        help="fix what the project's own mypy or pyright reports at TARGET (a file, a folder or file.py:LINE; default: "
        "anywhere); tests stay as they are",
    )
    parser.add_argument("--all", action="store_true", help="fix every failing test, one after another")
    parser.add_argument(
        "--since",
        metavar="REV",
        help="fix every test that started to fail since this revision: it passes there, or does not exist there",
    )
    parser.add_argument(
        "--continue",
        dest="continues",
        type=options.run_number_of,
        metavar="RUN",
        help="resume an unsolved run of the history: its attempts count, and --attempts adds that many",
    )
    parser.add_argument(
        "--most", type=int, default=MOST, metavar="N", help=f"fix at most N tests with --since (default: {MOST})"
    )
    add_run_arguments(parser)


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what every command that refines takes, whatever its target."""
    parser.add_argument("--apply", action="store_true", help="write a verified result without asking")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line, without asking")
    parser.add_argument(
        "--comment", metavar="TEXT", default="", help="a reviewer's comment on the target, for the model"
    )
    parser.add_argument("--preset", metavar="NAME", help="preset: prompt, feedback and search")
    parser.add_argument("--attempts", type=int, metavar="N", help="maximum number of model attempts")
    parser.add_argument("--seconds", type=float, metavar="N", help="time limit for the run")
    parser.add_argument("--tokens", type=int, metavar="N", help="token limit for the run, prompts included")
    parser.add_argument(
        "--ask", type=int, metavar="N", help="maximum number of questions about generated tests (0 to 5)"
    )
    parser.add_argument(
        "--accept",
        action="append",
        choices=("partial", "unverified", "warned"),
        default=[],
        help="partial, unverified: count such results as solved, and let --apply write them; warned: let --apply "
        "also write code that newly imports os, subprocess or similar modules (repeatable)",
    )
    parser.add_argument(
        "--strength",
        action="store_true",
        help="after a solved run, list small changes of the result that its tests would not notice",
    )
    outputs.add_arguments(parser, "fix")
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="record requests to models and their answers, secrets masked; `--model replay:FILE` repeats the run",
    )
    options.add(parser)


def run(arguments: argparse.Namespace, read_aim: Callable[[], Aim | None] = lambda: None) -> int:
    """Refines the target; `read_aim` returns the aim for code that passes its tests."""
    write_json = events_json.make_writer(sys.stdout.write, sys.stdout.flush) if arguments.json else None
    try:
        return _fix(arguments, write_json, read_aim())
    except GreenloopError as error:
        if write_json is None:
            raise
        write_json(events_json.error_object(error.kind, str(error), error.remedy))
        print_error(error)
        return error.exit_code
    except BrokenPipeError:
        raise
    except Exception as error:
        if write_json is not None:
            write_json(events_json.error_object("error", f"Internal error ({type(error).__name__})."))
        raise


def _fix(arguments: argparse.Namespace, write_json: Callable[[dict[str, Any]], None] | None, aim: Aim | None) -> int:
    _check_combination(arguments)
    earlier = _read_earlier(arguments) if getattr(arguments, "continues", None) is not None else None
    cwd = Path.cwd()
    wanted = outputs.open_outputs(arguments, cwd)
    root, first = options.locate(arguments.root, next(iter(arguments.targets), None), cwd=cwd)
    others = [options.locate(str(root), word, cwd=cwd)[1] for word in arguments.targets[1:]]
    targets = [target for target in (first, *others) if target]
    if getattr(arguments, "types", False):
        targets = [f"types:{target}" for target in targets or [""]]
    if earlier is not None:
        root, targets = (root if arguments.root else Path(earlier.root)), [earlier.target]
    settings = options.load(arguments, root, cwd=cwd)
    if "partial" in arguments.accept:
        settings = replace(settings, apply="partial")
    if EDITOR in models(settings):
        raise UsageError(
            'model = "editor" works only inside an editor that provides a language model.',
            remedy="Choose another with --model, such as local or ollama/NAME.",
        )
    opener = recording_opener(cwd / arguments.record, settings, " ".join(targets)) if arguments.record else None
    job = FixJob(
        arguments=arguments,
        root=root,
        settings=settings,
        write_json=write_json,
        aim=aim,
        outputs=wanted,
        earlier=earlier,
        opener=opener,
    )
    if any(target_adapters.find_adapter(options.split_target(target)[0]) for target in targets):
        if len(targets) > 1:
            raise UsageError("A notebook is fixed alone.", remedy="Name one cell or function of it, and nothing else.")
        job = _adapt(job, *options.split_target(targets[0]))
    try:
        return fix_targets(job, targets)
    except GreenloopError as error:
        job.fixes.append(Fix(target=" ".join(targets), error=error))
        raise
    finally:
        for output in wanted:
            output.write_fixes(job.fixes, root, json=write_json is not None)


def _check_combination(arguments: argparse.Namespace) -> None:
    """Raises `UsageError` for options that exclude each other."""
    if getattr(arguments, "types", False) and (arguments.all or arguments.since is not None):
        raise UsageError("--types does not go with --all or --since.", remedy="Remove one of the two.")
    if arguments.all and arguments.targets:
        raise UsageError("--all does not take a TARGET.", remedy="Remove one of the two.")
    if arguments.since is not None and arguments.targets:
        raise UsageError("--since does not take a TARGET.", remedy="Remove one of the two.")
    if arguments.since is not None and arguments.most < 1:
        raise UsageError("--most must be at least 1.")


def _read_earlier(arguments: argparse.Namespace) -> UnsolvedRun:
    """The run to go on with, whose preset is used again where no other is named. Raises `UsageError`."""
    if arguments.targets or arguments.all or arguments.since is not None:
        raise UsageError("--continue does not take a TARGET, --all or --since.", remedy="Remove one of the two.")
    earlier = read_unsolved_run(arguments.continues, print_warning)
    if not arguments.root and not Path(earlier.root).is_dir():
        raise UsageError(
            f"The folder of run {earlier.number} is gone: {earlier.root}.",
            remedy=f"If you moved it, name the new one: `greenloop fix --continue {earlier.number} --root FOLDER`.",
        )
    if arguments.preset is None and earlier.preset in offered_presets():
        arguments.preset = earlier.preset
    return earlier


def _adapt(job: FixJob, file: str, rest: str) -> FixJob:
    """The job for a target in a file that the tests do not see as it is. Raises `UsageError`."""
    adapted, write = target_adapters.adapt(job.root, file, rest), job.write_json
    writer = None if write is None else lambda value: write(adapted.label_json(value))
    return replace(job, settings=adapted.adapt_settings(job.settings), adapted=adapted, write_json=writer)
