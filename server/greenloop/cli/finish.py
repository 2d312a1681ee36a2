"""Finishes a `greenloop fix`: shows its outcome, and writes the files if allowed."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop.api import events_json
from greenloop.api.result_files import is_accepted, may_write
from greenloop.api.session import RefineSession, UnsolvedRun, report_lines
from greenloop.api.settings import Settings
from greenloop.api.target_adapters import UNADAPTED, Unadapted
from greenloop.cli import exit_codes, interrupt, render
from greenloop.cli.errors import print_error, print_warning
from greenloop.cli.outputs import Fix, Output
from greenloop.cli.screen import View, open_view
from greenloop.cli.width import break_lines
from greenloop.core.aims import Aim
from greenloop.core.errors import GreenloopError, WorkspaceError
from greenloop.core.ports import Model
from greenloop.core.records.outcome import Outcome, Verified
from greenloop.core.text.diff import diff_files, first_changed_line
from greenloop.wording.attempt import attempt_result
from greenloop.wording.outcome import VERIFIED_WORDS


@dataclass(frozen=True, kw_only=True)
class FixJob:
    """Data shared by all runs of one command line. `write_json` writes JSON objects; None: the output is for people.

    `aim` and the `earlier` run are those of the request, `opener` that of the session; `outputs`
    take the accepted results, `fixes` what became of each target; `answers` has the model that the user named when
    asked, empty for none. `failing` are the tests that failed in the whole suite, `passing_alone` those of them that
    pass without the others.
    """

    arguments: argparse.Namespace
    root: Path
    settings: Settings
    write_json: Callable[[dict[str, Any]], None] | None
    adapted: Unadapted = UNADAPTED
    aim: Aim | None = None
    outputs: tuple[Output, ...] = ()
    earlier: UnsolvedRun | None = None
    opener: Callable[[str, Settings], Model] | None = None
    fixes: list[Fix] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    failing: tuple[str, ...] = ()
    passing_alone: list[str] = field(default_factory=list)


def finish(job: FixJob, outcome: Outcome, session: RefineSession | None = None) -> int:
    """Shows the outcome, writes the files if wanted and allowed, and returns the exit code."""
    applied = False
    write_error: WorkspaceError | None = None
    original_outcome = outcome
    outcome = job.adapted.show(outcome)
    if job.write_json is None:
        _show(job, outcome)
    has_problem = session is not None and session.problem is not None
    is_writable = outcome.solved and bool(outcome.after) and has_problem
    if is_writable and _may_write(job, outcome):
        assert session is not None
        try:
            _write(job, original_outcome, session)
            applied = True
        except WorkspaceError as error:
            write_error = error
    for output in job.outputs if is_writable and may_write(outcome, job.arguments.accept) else ():
        output.add(job.adapted.to_files(original_outcome), job.root, applied=applied)
    if applied and job.write_json is None:
        is_kept = "" if outcome.run else " (the history has no copy of the text before)"
        print(f"Written: {_changed_locations(outcome)}{is_kept}")
    if job.arguments.strength and outcome.solved and outcome.best is not None and has_problem:
        assert session is not None
        _show_strength(job, session)
    if job.write_json is not None:
        finished = events_json.finished_object(outcome, applied=applied)
        job.write_json(finished | ({"message": str(write_error), "remedy": write_error.remedy} if write_error else {}))
    if write_error is not None:
        print_error(write_error)
        return write_error.exit_code
    return exit_codes.of_outcome(outcome, job.arguments.accept)


def _show_strength(job: FixJob, session: RefineSession) -> None:
    """Shows the changes that the tests would also accept; an error is printed and changes nothing else."""
    try:
        with open_view(json=job.write_json is not None, label_cells=job.adapted.label) as view:
            strength = interrupt.run(session.measure_strength(report_status=view.report_status), before_exit=view.close)
    except GreenloopError as error:
        print_error(error)
        return
    if job.write_json is not None:
        job.write_json(events_json.strength_object(strength))
    else:
        print("\n".join(render.escape_controls(job.adapted.label(row)) for row in report_lines(strength)))


def _write(job: FixJob, outcome: Outcome, session: RefineSession) -> None:
    """Raises `WorkspaceError`; a cancelled re-verification writes nothing."""
    assert session.problem is not None
    originals = job.adapted.originals(session.problem)

    async def write() -> None:
        changes = await session.plan(
            outcome=job.adapted.to_files(outcome),
            originals=originals,
            to_sandbox=job.adapted.to_sandbox,
            report_status=lambda sentence: print(sentence, file=sys.stderr),
        )
        await session.write(changes)

    try:
        interrupt.run(write())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _may_write(job: FixJob, outcome: Outcome) -> bool:
    """May the result be written, by a flag or by the user's answer?"""
    arguments, is_held = job.arguments, any(output.holds_results for output in job.outputs)
    if arguments.apply and may_write(outcome, arguments.accept):
        return True
    if is_held and not arguments.apply and may_write(outcome, arguments.accept):
        return False  # that is what was asked for
    hint = f"`greenloop history apply {outcome.run}` writes it" if outcome.run else "It is not in the history"
    if job.write_json is None and not is_held and View.can_ask():
        confirmed = View.ask_yes_no("Apply this change?")
        if not confirmed:
            print(f"Not written. {hint}", file=sys.stderr)
        return confirmed
    if arguments.apply or is_held:
        has_warnings = is_accepted(outcome, arguments.accept)
        reason = "it has a warning" if has_warnings else f"it is {VERIFIED_WORDS[outcome.verified]}"
        level = "warned" if has_warnings else "partial" if outcome.verified is Verified.PARTIALLY else "unverified"
        print_warning(f"not written, because {reason}; --accept {level} allows such results. {hint}")
    elif job.write_json is None:
        print(f"Not written. {hint}; with --apply it is written at once.", file=sys.stderr)
    return False


def _show(job: FixJob, outcome: Outcome) -> None:
    from rich.console import Console  # noqa: PLC0415 - programs that read JSON need not wait for it
    from rich.text import Text  # noqa: PLC0415

    from greenloop.cli.attempt_tables import colour_diff  # noqa: PLC0415

    console = Console(highlight=False)
    if outcome.solved and (diff := diff_files(outcome.before, outcome.after)):
        console.print(colour_diff(diff), soft_wrap=True)
    colour = "green" if exit_codes.of_outcome(outcome) == exit_codes.VERIFIED else "yellow" if outcome.solved else "red"
    sentence = break_lines(render.outcome_sentence(outcome), console.file)
    console.print(Text(sentence, style=colour), soft_wrap=True)
    for note in render.outcome_notes(outcome):
        console.print(Text(break_lines(job.adapted.label(note), console.file)), soft_wrap=True)
    best = render.best_attempt(outcome)
    if not outcome.solved and best is not None:
        description = f"Best attempt: {best.number} ({attempt_result(best)})"
        console.print(f"{description}. To see it: greenloop history show {outcome.run or ''}".rstrip(), soft_wrap=True)
        if outcome.run is not None:
            console.print(f"To continue: greenloop fix --continue {outcome.run}", soft_wrap=True)


def _changed_locations(outcome: Outcome) -> str:
    changed_paths = [path for path in sorted(outcome.after) if outcome.after[path] != outcome.before.get(path)]
    return ", ".join(
        f"{render.escape_controls(path)}:{first_changed_line(outcome.before.get(path), outcome.after[path])}"
        for path in changed_paths
    )
