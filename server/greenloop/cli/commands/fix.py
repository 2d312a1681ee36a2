"""`greenloop fix`: runs the engine and shows what happens; `finish` handles the result.

It must not know how a result is found; it knows events, an outcome and the user's files.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from greenloop.cli import exit_codes, interrupt, options, render
from greenloop.cli.commands.model import ask_for_model
from greenloop.cli.errors import print_error, print_warning
from greenloop.cli.finish import FixJob, NotebookJob, finish
from greenloop.cli.patch import PatchFile
from greenloop.cli.reports import request as reports
from greenloop.cli.reports.of_fixes import Fix
from greenloop.cli.screen import View, open_view, read_line
from greenloop.core.election import best_attempt
from greenloop.core.errors import GreenloopError, ModelError, UsageError
from greenloop.core.events import Event, Specified, Started, Tested
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.goal import Goal
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.summary import total_usage
from greenloop.engine import events_json, failing_tests, refine
from greenloop.engine.history.unsolved_run import UnsolvedRun, read_unsolved_run
from greenloop.engine.presets import offered_presets
from greenloop.engine.regressions import Regressions, find_regressions
from greenloop.models.embedded.default_model import choose
from greenloop.notebook import adapter, cell_targets
from greenloop.project.settings import EDITOR, Settings, models

MOST = 10  # tests of one `--since`; a revision long ago may have hundreds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target",
        nargs="?",
        metavar="TARGET",
        help="pytest node id, file.py::function, file.py:LINE, a folder with tests or notebook.ipynb:CELL "
        "(default: the first failing test)",
    )
    parser.add_argument("--all", action="store_true", help="fix every failing test, one after another")
    parser.add_argument(
        "--since",
        metavar="REV",
        help="fix every test that became red since this revision: it passes there, or does not exist there",
    )
    parser.add_argument(
        "--continue",
        dest="continues",
        type=options.run_number_of,
        metavar="RUN",
        help="go on with an unsolved run of the history: its attempts count, and --attempts allows so many more",
    )
    parser.add_argument(
        "--most", type=int, default=MOST, metavar="N", help=f"fix at most N tests with --since (default: {MOST})"
    )
    add_run_arguments(parser)


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what every command that refines takes, whatever its target."""
    parser.add_argument("--apply", action="store_true", help="write a verified result without asking")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line, and never ask")
    parser.add_argument(
        "--comment", metavar="TEXT", default="", help="a reviewer's comment on the target, for the model"
    )
    parser.add_argument("--preset", metavar="NAME", help="preset of prompt, feedback and search")
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
        help="partial, unverified: count such a result as solved, and let --apply write it; "
        "warned: let --apply also write code that newly imports os, subprocess and similar modules (repeatable)",
    )
    parser.add_argument(
        "--strength",
        action="store_true",
        help="after a solved run, list small changes of the result that its tests would not notice",
    )
    reports.add_arguments(parser)
    parser.add_argument(
        "--patch", metavar="FILE", help="write the accepted results as a patch for `git apply`, and never ask"
    )
    options.add(parser)


def run(arguments: argparse.Namespace, read_goal: Callable[[], tuple[Goal | None, str]] = lambda: (None, "")) -> int:
    """Refines the target; `read_goal` returns the goal for code that passes its tests, and the calls to measure."""
    write_json = events_json.make_writer(sys.stdout.write, sys.stdout.flush) if arguments.json else None
    try:
        return _fix(arguments, write_json, *read_goal())
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


def _fix(
    arguments: argparse.Namespace,
    write_json: Callable[[dict[str, Any]], None] | None,
    goal: Goal | None,
    calls: str,
) -> int:
    if arguments.all and arguments.target:
        raise UsageError("--all does not take a TARGET.", remedy="Remove one of the two.")
    if arguments.since is not None and arguments.target:
        raise UsageError("--since does not take a TARGET.", remedy="Remove one of the two.")
    if arguments.since is not None and arguments.most < 1:
        raise UsageError("--most must be at least 1.")
    earlier = _read_earlier(arguments) if getattr(arguments, "continues", None) is not None else None
    cwd = Path.cwd()
    wanted = reports.read_reports(arguments.reports, cwd)
    root, target = options.locate(arguments.root, arguments.target, cwd=cwd)
    if earlier is not None:
        root, target = (root if arguments.root else Path(earlier.root)), earlier.target
    patch = None
    if arguments.patch:
        patch = PatchFile(path=reports.check_writable(cwd / arguments.patch, "--patch FILE"), root=root)
    settings = options.load(arguments, root, cwd=cwd)
    if EDITOR in models(settings):
        raise UsageError(
            'model = "editor" works only inside an editor that provides a language model.',
            remedy="Choose another with --model, such as local or ollama/NAME.",
        )
    if write_json is not None or not View.can_ask():
        settings = replace(settings, ask=0)
    job = FixJob(
        arguments=arguments,
        root=root,
        settings=settings,
        write_json=write_json,
        goal=goal,
        calls=calls,
        patch=patch,
        earlier=earlier,
    )
    if target is not None and options.split_target(target)[0].endswith(".ipynb"):
        notebook = _load_notebook(root, *options.split_target(target))
        adapted, writer = adapter.adapt_settings(settings), notebook.writer_with_cells(write_json)
        job = replace(job, settings=adapted, notebook=notebook, write_json=writer)
    try:
        return _fix_targets(job, target)
    except GreenloopError as error:
        job.fixes.append(Fix(target=target or "", error=error))
        raise
    finally:
        if patch is not None:
            patch.write()
        reports.write_fixes(wanted, job.fixes, root, json=write_json is not None)


def _read_earlier(arguments: argparse.Namespace) -> UnsolvedRun:
    """The run to go on with, whose preset is used again where no other is named. Raises `UsageError`."""
    if arguments.target or arguments.all or arguments.since is not None:
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


def _fix_targets(job: FixJob, target: str | None) -> int:
    try:
        return _fix_named(job, target)
    except ModelError:
        # Only now is it known that a model is needed: a target that passes already, or cannot run, needs none.
        if job.write_json is not None or not View.can_ask() or not _has_no_model(job.settings):
            raise
    return _fix_named(
        replace(job, settings=replace(job.settings, model=ask_for_model(read_line, job.settings))), target
    )


def _fix_named(job: FixJob, target: str | None) -> int:
    """Fixes the target, all test files of a folder, or what fails where none is named."""
    if target is None:
        return _fix_failing_tests(job)
    if job.goal is None and (job.root / target).is_dir():
        return _fix_each(job, failing_tests.list_test_files(job.root, target))
    if (earlier := job.earlier) is None:
        return _fix_one(job, target)
    try:
        return _fix_one(job, target)
    except UsageError as error:
        raise UsageError(
            f"The target of run {earlier.number} is gone: {target}.",
            remedy=f"{error.remedy} Its attempts are kept: `greenloop history show {earlier.number}`.".strip(),
        ) from error


def _load_notebook(root: Path, path: str, rest: str) -> NotebookJob:
    """Loads the notebook of a target. Raises `UsageError` that lists the targets if the name is ambiguous."""
    book, text = adapter.load(root, path)
    return NotebookJob(prepared=adapter.prepare(book, cell_targets.parse_target(book, rest)), text=text)


def _has_no_model(settings: Settings) -> bool:
    return not settings.drafter.model and not interrupt.run(choose(settings))


def _fix_failing_tests(job: FixJob) -> int:
    """Without a target: runs the suite, and fixes the first failing test, all, or what became red since a revision."""
    since = job.arguments.since
    with open_view(json=job.write_json is not None) as view:

        async def find() -> tuple[list[str], str]:
            if since is None:
                listed = failing_tests.list_failing_tests
                return await listed(job.root, settings=job.settings, report_status=view.report_status), ""
            found = await find_regressions(job.root, since, settings=job.settings, report_status=view.report_status)
            return _choose(found, since, job.arguments.most)

        try:
            failing, sentence = interrupt.run(find(), before_exit=view.close)
        except asyncio.CancelledError:
            outcome = _empty_outcome(StopReason.CANCELLED, "cancelled")
            job.fixes.append(Fix(target="", outcome=outcome))
            return finish(job, outcome)
    if not failing:
        sentence = sentence or "All tests pass; there is nothing to fix."
        return finish(job, _empty_outcome(StopReason.ALREADY_GREEN, sentence, solved=True))
    if job.write_json is None:
        print(
            sentence or f"{len(failing)} failing:",
            *(f"  {render.escape_controls(name)}" for name in failing),
            sep="\n",
            file=sys.stderr,
        )
    return _fix_each(job, failing) if job.arguments.all or since is not None else _fix_one(job, failing[0])


def _fix_each(job: FixJob, targets: Sequence[str]) -> int:
    """Fixes several targets, one after another; one that cannot be fixed does not stop the others."""
    results = []
    for target in targets:
        try:
            results.append(_fix_one(job, target))
        except GreenloopError as error:
            if isinstance(error, ModelError) and not results and _has_no_model(job.settings):
                raise  # it is asked for, and no other target can do without
            if job.write_json is not None:
                job.write_json(events_json.error_object(error.kind, str(error), error.remedy))
            print_error(error)
            job.fixes.append(Fix(target=target, error=error))
            results.append(error.exit_code)
        if results[-1] == exit_codes.CANCELLED:
            break
    return exit_codes.worst(results)


def _choose(found: Regressions, since: str, most: int) -> tuple[list[str], str]:
    """The tests to fix, at most so many, and a sentence about all that fail."""
    old = f"{len(found.old)} that failed there too" if found.old else ""
    if not found.red:
        return [], f"Nothing became red since {since}" + (f"; left out: {old}." if old else ".")
    parts = [f"{len(found.broken)} that passed there", f"{len(found.new)} that it does not have"]
    counted = [part for part, names in zip(parts, (found.broken, found.new), strict=True) if names]
    left = f"; left out: {old}" if old else ""
    first = f"; only the first {most} are fixed (--most)" if len(found.red) > most else ""
    return [*found.red[:most]], f"{len(found.red)} red since {since}: {', '.join(counted)}{left}{first}"


def _fix_one(job: FixJob, target: str) -> int:
    problem: Problem | None = None
    attempts: list[Attempt] = []
    reader_gone = False

    with open_view(json=job.write_json is not None, label_cells=job.label_cells) as view:

        def emit(event: Event) -> None:
            nonlocal problem, reader_gone
            if isinstance(event, Started):
                problem = event.problem
                attempts.append(event.baseline)
            elif isinstance(event, Specified) and problem is not None:
                problem = replace(problem, spec=event.spec)
            elif isinstance(event, Tested):
                event.record_in(attempts)
            view.emit(event)
            if job.write_json is not None and not reader_gone:
                reader_gone = not _write_event(job.write_json, event, target)
                if reader_gone and (task := asyncio.current_task()) is not None:
                    task.cancel()  # the reader is gone: ends like SIGPIPE

        def before_exit() -> None:
            view.close()
            if job.write_json is not None:
                job.write_json(events_json.finished_object(_cancelled_outcome(attempts)))

        request = refine.Request(
            root=job.root,
            target=target,
            buffers=job.patch.buffers if job.patch else {},
            comment=job.arguments.comment,
            goal=job.goal,
            calls=job.calls,
            earlier=job.earlier,
        )
        if job.notebook is not None:
            prepared = job.notebook.prepared
            request = replace(request, target=prepared.target, buffers=prepared.buffers, known_fault=prepared.fault)
        work = refine.refine(
            request, settings=job.settings, emit=emit, report_status=view.report_status, user=view.user
        )
        try:
            with job.notebook.prepared.relabel_errors() if job.notebook else nullcontext():
                outcome = interrupt.run(work, before_exit=before_exit)
        except asyncio.CancelledError:
            outcome = _cancelled_outcome(attempts)
    job.fixes.append(Fix(target=target, outcome=outcome, problem=problem, accept=tuple(job.arguments.accept)))
    if reader_gone:
        raise BrokenPipeError
    return finish(job, outcome, problem)


def _cancelled_outcome(attempts: Sequence[Attempt]) -> Outcome:
    best = best_attempt(attempts)
    outcome = _empty_outcome(StopReason.CANCELLED, "cancelled")
    return replace(outcome, attempts=tuple(attempts), best=best.number if best else None, usage=total_usage(attempts))


def _write_event(write_json: Callable[[dict[str, Any]], None], event: Event, target: str) -> bool:
    """Writes an event; False when the reader is gone."""
    value = events_json.event_object(event)
    if value is None:
        return True
    if isinstance(event, Started):
        value["target"] = target
    try:
        write_json(value)
    except BrokenPipeError:
        return False
    return True


def _empty_outcome(reason: StopReason, message: str, *, solved: bool = False) -> Outcome:
    verified = Verified.VERIFIED if solved else Verified.UNVERIFIED
    return Outcome(solved=solved, verified=verified, reason=reason, message=message, attempts=())
