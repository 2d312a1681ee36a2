"""`greenloop verify`: runs a commit's tests against the working tree; plugins verify other results.

It must not know how a verdict is reached; it knows a request and its result.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from greenloop.api.settings import Settings
from greenloop.api.verification import (
    APART,
    CLUSTER,
    Verification,
    VerifyRequest,
    load_back_end,
    result_json,
    verify,
    verify_targets,
)
from greenloop.api.workspace import find_root
from greenloop.cli import exit_codes, interrupt, options, outputs, render
from greenloop.cli.errors import print_error
from greenloop.cli.outputs import Output
from greenloop.cli.progress import open_progress, timed
from greenloop.cli.render import describe
from greenloop.cli.width import break_lines
from greenloop.core import entry_points
from greenloop.core.errors import GreenloopError, UsageError

# Verifies a target; returns the result and, where that was asked for, the files that it wrote.
Check = Callable[[], tuple[Verification, Sequence[str] | None]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="pytest node ids, test files or folders of the commit that must pass, old failures included "
        "(default: the whole suite, where tests that also failed at the commit do not count), the number of "
        "a run in the history to repeat (`12`, `run:12`), or a FILE.json of `greenloop export`",
    )
    for module in verify_targets():
        module.add_arguments(parser)
    parser.add_argument("--base", metavar="REV", help="the commit whose tests and configuration count (default: HEAD)")
    parser.add_argument(
        "--staged", action="store_true", help="verify the staged files instead of the working tree, for a commit hook"
    )
    for module in entry_points.load_all(entry_points.VERIFY_ANSWERS):
        module.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    outputs.add_arguments(parser, "verify")
    parser.add_argument(
        "--seconds", dest="run_seconds", type=float, metavar="N", help="time limit for one run of the tests"
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="GLOB",
        help="files that the commit lacks but needs, such as generated ones (repeatable)",
    )
    parser.add_argument(
        "--known-failing",
        nargs="+",
        action="extend",
        default=[],
        metavar="ID",
        help="tests that may fail if they also fail with the commit's own code: node ids (a test without "
        "parameters, a class or a test file stands for all its tests), or a file with one per line and `#` "
        "comments (`known.txt`, `@known.txt`); put targets before it",
    )
    parser.add_argument(
        "--allow-test-change",
        action="append",
        default=[],
        metavar="PATH",
        help="accept the change of a test, its helpers, configuration or expected results: a file, a folder or a "
        "glob (repeatable; needs --because)",
    )
    parser.add_argument("--because", default="", metavar="TEXT", help="the reason, which the result repeats")
    parser.add_argument(
        "--require",
        choices=[APART],
        default="",
        help="apart: exit with 0 only if the tests were judged in another process than the code",
    )
    parser.add_argument(
        "--on",
        metavar="CLUSTER",
        help="split the tests across the nodes of a Ray cluster, by how long each took before: `ray` for this "
        "machine's cluster, or ray://HOST:PORT",
    )
    options.add(parser, model=False)


def run(arguments: argparse.Namespace) -> int:
    for module in entry_points.load_all(entry_points.VERIFY_ANSWERS):
        code: int | None = module.answer(arguments, _verify_target)
        if code is not None:
            return code
    try:
        return _verify(arguments)
    except GreenloopError as error:
        if arguments.json:
            print(json.dumps({**result_json(Verification(reason=str(error))), "remedy": error.remedy}))
        print_error(error)
        return error.exit_code


def _verify(arguments: argparse.Namespace) -> int:
    cwd = Path.cwd()
    wanted = outputs.open_outputs(arguments, cwd)
    if arguments.run_seconds is not None and not arguments.run_seconds > 0:
        raise UsageError("--seconds must be more than 0.")
    checks = (module.find(arguments, cwd) for module in verify_targets())
    check: Check | None = next(filter(None, checks), None)
    try:
        result, written = check() if check else (_verify_target(arguments, cwd), None)
    except asyncio.CancelledError:
        if arguments.json:
            print(json.dumps(result_json(Verification(reason="Cancelled."))))
        print("greenloop: cancelled.", file=sys.stderr)
        return exit_codes.CANCELLED
    except GreenloopError as error:
        # Whoever reads only the report must not take a missing or an old one for a pass.
        _write_reports(wanted, Verification(reason=error.advice), arguments, cwd)
        raise
    if arguments.json:
        print(json.dumps({**result_json(result), **({} if written is None else {"written": list(written)})}))
    else:
        print(break_lines("\n".join(describe(result)), sys.stdout))
        if written:
            print(f"Written: {', '.join(map(render.escape_controls, written))}")
    _write_reports(wanted, result, arguments, cwd)
    return exit_codes.VERIFIED if result.verified or result.nothing_staged else exit_codes.NOT_SOLVED


def _write_reports(wanted: Sequence[Output], result: Verification, arguments: argparse.Namespace, cwd: Path) -> None:
    if not wanted:
        return
    try:
        root, _target = options.locate(arguments.root, next(iter(arguments.targets), None), cwd=cwd)
    except UsageError:
        root = find_root(cwd)  # what was typed is wrong, as the report will say
    for output in wanted:
        output.write_verification(result, root, json=arguments.json)


def _verify_target(arguments: argparse.Namespace, cwd: Path, *, quick: bool = False) -> Verification:
    """Verifies the working tree. `quick`: without a status, and without runs that could show nothing new."""
    root, first_target = options.locate(arguments.root, next(iter(arguments.targets), None), cwd=cwd)
    other_targets = [options.locate(str(root), target, cwd=cwd)[1] for target in arguments.targets[1:]]
    request = VerifyRequest(
        root=root,
        revision="HEAD" if arguments.base is None else arguments.base,
        targets=tuple(target for target in (first_target, *other_targets) if target is not None),
        folder=str(cwd.relative_to(root)) if cwd.is_relative_to(root) and arguments.root is None else "",
        keep=tuple(arguments.keep),
        known_failing=tuple(_known_failing(entry, root, cwd) for entry in arguments.known_failing),
        seconds=arguments.run_seconds or 0.0,
        staged=arguments.staged,
        allow=tuple(arguments.allow_test_change),
        because=arguments.because,
        require=arguments.require,
        quick=quick,
    )
    settings = load_settings(arguments, root, cwd)
    if quick:  # another program reads standard error
        return interrupt.run(verify(request, settings=settings))
    with open_progress() as (report_status, left), timed(" ".join(["verify", *request.targets]), root, left):
        return interrupt.run(verify(request, settings=settings, report_status=report_status, report_left=left))


def load_settings(arguments: argparse.Namespace, root: Path, cwd: Path) -> Settings:
    """The settings of a workspace, with those of the command line."""
    implied = {}
    if arguments.on is not None:
        if arguments.sandbox is not None:
            raise UsageError("--on cannot be combined with --sandbox.", remedy="Name the cluster alone.")
        implied = {"sandbox.kind": CLUSTER, "sandbox.cluster": load_back_end(CLUSTER).parse_address(arguments.on)}
    return options.load(arguments, root, cwd=cwd, implied=implied)


def _known_failing(entry: str, root: Path, cwd: Path) -> str:
    """A typed entry with its path relative to the workspace; a file of ids is marked with `@`."""
    is_file = entry.startswith("@") or ("::" not in entry and not entry.endswith(".py"))
    if is_file:
        path = Path(os.path.abspath(cwd / entry.removeprefix("@")))  # noqa: PTH100 - keeps symlinks, as typed
        return f"@{path.relative_to(root) if path.is_relative_to(root) else path}"
    return options.locate(str(root), entry, cwd=cwd)[1] or entry
