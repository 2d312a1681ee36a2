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
from greenloop.api.notebook_targets import NotebookTarget
from greenloop.api.notebooks import label_json
from greenloop.api.result_files import is_accepted, may_write
from greenloop.api.session import RefineSession, UnsolvedRun, report_lines
from greenloop.api.settings import Settings
from greenloop.cli import exit_codes, interrupt, render
from greenloop.cli.errors import print_error, print_warning
from greenloop.cli.outputs import Fix, Output
from greenloop.cli.screen import View, open_view
from greenloop.core.errors import GreenloopError, WorkspaceError
from greenloop.core.ports import Model
from greenloop.core.records.goal import Aim
from greenloop.core.records.outcome import Outcome, Verified
from greenloop.core.text.diff import diff_files, first_changed_line
from greenloop.wording.attempt import attempt_result
from greenloop.wording.outcome import VERIFIED_WORDS


@dataclass(frozen=True, kw_only=True)
class FixJob:
    """Data shared by all runs of one command line. `write_json` writes JSON objects; None: the output is for people.

    `aim` and the `earlier` run are those of the request, `opener` that of the session; `outputs`
    take the accepted results, `fixes` what became of each target; `answers` has the model that the user named when
    asked, empty for none.
    """

    arguments: argparse.Namespace
    root: Path
    settings: Settings
    write_json: Callable[[dict[str, Any]], None] | None
    notebook: NotebookJob | None = None
    aim: Aim | None = None
    outputs: tuple[Output, ...] = ()
    earlier: UnsolvedRun | None = None
    opener: Callable[[str, Settings], Model] | None = None
    fixes: list[Fix] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def label_cells(self, text: str) -> str:
        """A text for people, with cells in place of files that exist in the sandbox only."""
        return text if self.notebook is None else self.notebook.prepared.label_cells(text)


@dataclass(frozen=True, kw_only=True)
class NotebookJob:
    """The notebook of a target, and the text of its file."""

    prepared: NotebookTarget
    text: str

    def writer_with_cells(
        self, write_json: Callable[[dict[str, Any]], None] | None
    ) -> Callable[[dict[str, Any]], None] | None:
        """`write_json`, with cells in place of files that exist in the sandbox only; a diff stays unchanged."""
        if write_json is None:
            return None
        return lambda value: write_json(
            label_json(self.prepared.notebook, value) | {name: value[name] for name in value.keys() & {"diff"}}
        )


def finish(job: FixJob, outcome: Outcome, session: RefineSession | None = None) -> int:
    """Shows the outcome, writes the files if wanted and allowed, and returns the exit code."""
    applied = False
    write_error: WorkspaceError | None = None
    original_outcome = outcome
    outcome = outcome if job.notebook is None else job.notebook.prepared.outcome_by_cell(outcome)
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
        output.add(_file_outcome(job, original_outcome), job.root, applied=applied)
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
        with open_view(json=job.write_json is not None, label_cells=job.label_cells) as view:
            strength = interrupt.run(session.measure_strength(report_status=view.report_status), before_exit=view.close)
    except GreenloopError as error:
        print_error(error)
        return
    if job.write_json is not None:
        job.write_json(events_json.strength_object(strength))
    else:
        print("\n".join(render.escape_controls(job.label_cells(row)) for row in report_lines(strength)))


def _write(job: FixJob, outcome: Outcome, session: RefineSession) -> None:
    """Raises `WorkspaceError`; a cancelled re-verification writes nothing."""
    originals = None
    if job.notebook is not None and session.problem is not None:
        originals = job.notebook.prepared.originals(session.problem, job.notebook.text)

    async def write() -> None:
        changes = await session.plan(
            outcome=_file_outcome(job, outcome),
            originals=originals,
            to_sandbox=lambda files: _as_sandbox_files(job, files),
            report_status=lambda sentence: print(sentence, file=sys.stderr),
        )
        await session.write(changes)

    try:
        interrupt.run(write())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _file_outcome(job: FixJob, outcome: Outcome) -> Outcome:
    """The outcome with the texts of files: a notebook's modules become its file again."""
    return outcome if job.notebook is None else job.notebook.prepared.outcome_for_file(outcome, job.notebook.text)


def _as_sandbox_files(job: FixJob, files: dict[str, bytes]) -> dict[str, bytes]:
    """The files as the sandbox needs them: a notebook becomes its module and tests. Raises `UsageError`."""
    if job.notebook is None:
        return files
    prepared = job.notebook.prepared
    other_files = {path: data for path, data in files.items() if path != prepared.notebook.path}
    text = files.get(prepared.notebook.path)
    return other_files | (prepared.buffers if text is None else prepared.in_text(text.decode()).buffers)


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
    console.print(Text(render.outcome_sentence(outcome), style=colour), soft_wrap=True)
    for note in render.outcome_notes(outcome):
        console.print(Text(job.label_cells(note)), soft_wrap=True)
    best = render.best_attempt(outcome)
    if not outcome.solved and best is not None:
        description = f"Best attempt: {best.number} ({attempt_result(best)})"
        console.print(f"{description}. To see it: greenloop history show {outcome.run or ''}".rstrip(), soft_wrap=True)
        if outcome.run is not None:
            console.print(f"To go on: greenloop fix --continue {outcome.run}", soft_wrap=True)


def _changed_locations(outcome: Outcome) -> str:
    changed_paths = [path for path in sorted(outcome.after) if outcome.after[path] != outcome.before.get(path)]
    return ", ".join(
        f"{render.escape_controls(path)}:{first_changed_line(outcome.before.get(path), outcome.after[path])}"
        for path in changed_paths
    )
