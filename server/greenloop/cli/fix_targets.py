"""Fixes one target or several, one after another, and shows what happens; `finish` handles each result.

It must not know how a result is found; it knows events, an outcome and the user's files.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from greenloop.api import events_json, testing
from greenloop.api.models import check_models, has_model
from greenloop.api.session import RefineRequest, RefineSession, read_unsolved_run
from greenloop.cli import exit_codes, interrupt, render
from greenloop.cli.errors import print_error, print_warning
from greenloop.cli.finish import FixJob, finish
from greenloop.cli.first_model import ask_for_model
from greenloop.cli.outputs import Fix
from greenloop.cli.progress import timed
from greenloop.cli.screen import View, open_view
from greenloop.core.errors import GreenloopError, ModelError, UsageError
from greenloop.core.events import Event, Started
from greenloop.core.records.outcome import Outcome, StopReason, Verified


def fix_targets(job: FixJob, targets: Sequence[str]) -> int:
    """Fixes the targets, of a folder all its test files, or the tests that fail if none is named.

    Raises `ModelError` before any test runs, for a model with an unknown name or without a key.
    """
    interrupt.run(check_models(job.settings))
    if not targets:
        return _fix_failing_tests(job)
    folders = [target for target in targets if job.aim is None and (job.root / target).is_dir()]
    if folders or len(targets) > 1:
        listed = ([*testing.list_test_files(job.root, each)] if each in folders else [each] for each in targets)
        return _fix_each(job, [*dict.fromkeys(itertools.chain.from_iterable(listed))])
    target = targets[0]
    if (earlier := job.earlier) is None:
        return _fix_one(job, target)
    try:
        return _fix_one(job, target)
    except UsageError as error:
        raise UsageError(
            f"The target of run {earlier.number} is gone: {target}.",
            remedy=f"{error.remedy} Its attempts are kept: `greenloop history show {earlier.number}`.".strip(),
        ) from error


def _fix_failing_tests(job: FixJob) -> int:
    """Without a target: runs the suite, and fixes the first failing test, all, or what became red since a revision."""
    since = job.arguments.since
    with open_view(json=job.write_json is not None) as view:
        others = ""

        async def find() -> tuple[list[str], str]:
            nonlocal others
            if since is None:
                listed = testing.list_failing_tests
                inside = job.root if job.arguments.root else Path.cwd()
                failing = await listed(job.root, inside, settings=job.settings, report_status=view.report_status)
                if not failing:
                    others = await testing.find_others(job.root, settings=job.settings)
                return failing, ""
            red = testing.find_regressions
            found = await red(job.root, since, settings=job.settings, report_status=view.report_status)
            return _choose(found, since, job.arguments.most)

        try:
            with timed("fix" if since is None else f"fix --since {since}", job.root, view.report_left):
                failing, sentence = interrupt.run(find(), before_exit=view.close)
        except asyncio.CancelledError:
            outcome = _empty_outcome(StopReason.CANCELLED, "cancelled")
            job.fixes.append(Fix(target="", outcome=outcome))
            return finish(job, outcome)
    if not failing:
        sentence = sentence or f"All tests pass. {others or 'There is nothing to fix.'}"
        return finish(job, _empty_outcome(StopReason.ALREADY_GREEN, sentence, solved=True))
    if job.write_json is None:
        print(
            sentence or f"{len(failing)} failing:",
            *(f"  {render.escape_controls(name)}" for name in failing),
            sep="\n",
            file=sys.stderr,
        )
    job = replace(job, failing=tuple(failing))
    return _fix_each(job, failing) if job.arguments.all or since is not None else _fix_first(job, failing)


def _fix_first(job: FixJob, failing: Sequence[str]) -> int:
    """Fixes the first of these tests that also fails without the others."""
    codes = []
    for target in failing:
        codes.append(_fix_one(job, target))
        if target not in job.passing_alone:
            break
    return exit_codes.worst(codes)


def _fix_each(job: FixJob, targets: Sequence[str]) -> int:
    """Fixes several targets, one after another; one that cannot be fixed does not stop the others."""
    results = []
    for target in targets:
        try:
            results.append(_fix_one(job, target))
        except GreenloopError as error:
            if job.write_json is not None:
                job.write_json(events_json.error_object(error.kind, str(error), error.remedy))
            print_error(error)
            job.fixes.append(Fix(target=target, error=error))
            results.append(error.exit_code)
        if results[-1] == exit_codes.CANCELLED:
            break
    return exit_codes.worst(results)


def _choose(found: testing.Regressions, since: str, most: int) -> tuple[list[str], str]:
    """The tests to fix, at most `most`, and a sentence about all that fail."""
    old = f"{len(found.old)} that failed there too" if found.old else ""
    if not found.red:
        return [], f"No test has started to fail since {since}" + (f"; left out: {old}." if old else ".")
    parts = [f"{len(found.broken)} that passed there", f"{len(found.new)} that it does not have"]
    counted = [part for part, names in zip(parts, (found.broken, found.new), strict=True) if names]
    left = f"; left out: {old}" if old else ""
    first = f"; only the first {most} are fixed (--most)" if len(found.red) > most else ""
    return [*found.red[:most]], f"{len(found.red)} red since {since}: {', '.join(counted)}{left}{first}"


def _fix_one(job: FixJob, target: str) -> int:
    """Fixes the target; where that needs a model and there is none, asks once for one and goes on with it."""
    job = replace(job, settings=replace(job.settings, model=job.settings.model or "".join(job.answers)))
    try:
        code, outcome = _run_one(job, target)
    except ModelError as error:
        if not _may_ask_for_model(job):
            raise
        print_error(error)
        number = None
    else:
        if outcome.reason is not StopReason.MODEL or not _may_ask_for_model(job):
            return code
        number = outcome.run
    job.answers.append("")
    job.answers[0] = model = ask_for_model(job.settings)
    earlier = read_unsolved_run(number, print_warning) if number is not None else job.earlier
    code, _outcome = _run_one(replace(job, settings=replace(job.settings, model=model), earlier=earlier), target)
    return code


def _may_ask_for_model(job: FixJob) -> bool:
    """Can the user be asked for a model, who was not asked before and has none?"""
    return job.write_json is None and not job.answers and View.can_ask() and not interrupt.run(has_model(job.settings))


def _run_one(job: FixJob, target: str) -> tuple[int, Outcome]:
    """Runs the target, and finishes it; returns the exit code and the outcome."""
    reader_gone = False

    with open_view(json=job.write_json is not None, label_cells=job.adapted.label) as view:

        def on_event(event: Event) -> None:
            nonlocal reader_gone
            view.emit(event)
            if job.write_json is not None and not reader_gone:
                reader_gone = not _write_event(job.write_json, event, target)
                if reader_gone:
                    session.cancel()  # ends like SIGPIPE

        def before_exit() -> None:
            view.close()
            if job.write_json is not None:
                job.write_json(events_json.finished_object(session.cancelled_outcome()))

        request = RefineRequest(
            root=job.root,
            target=target,
            buffers={path: data for output in job.outputs for path, data in output.buffers.items()},
            comment=job.arguments.comment,
            aim=job.aim,
            earlier=job.earlier,
        )
        session = RefineSession(
            job.adapted.to_request(request),
            settings=job.settings,
            user=view.user,
            opener=job.opener,
            report_status=view.report_status,
            on_event=on_event,
        )
        try:
            with job.adapted.relabel_errors():
                outcome = interrupt.run(session.run(), before_exit=before_exit)
        except asyncio.CancelledError:
            outcome = session.cancelled_outcome()
    # What an earlier result of this command has fixed as well does not depend on the order.
    is_fixed = any(fix.outcome is not None and fix.outcome.solved for fix in job.fixes)
    if outcome.reason is StopReason.ALREADY_GREEN and target in job.failing and not is_fixed:
        job.passing_alone.append(target)
        outcome = replace(outcome, solved=False, reason=StopReason.ENVIRONMENT, message=_describe_order(target))
    job.fixes.append(Fix(target=target, outcome=outcome, problem=session.problem, accept=tuple(job.arguments.accept)))
    if reader_gone:
        raise BrokenPipeError
    return finish(job, outcome, session), outcome


def _describe_order(target: str) -> str:
    return (
        f"{target} passes alone and failed with the tests that run before it: it depends on their order, or on chance. "
        "Let it prepare all that it needs, or let the others undo what they change."
    )


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
