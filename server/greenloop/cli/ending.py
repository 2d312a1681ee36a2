"""How a `greenloop fix` ends: its outcome is shown, and written into the files where that is wanted and allowed."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop import engine
from greenloop.cli import apply, codes, events_json, interrupt, show
from greenloop.cli.problems import tell, warn
from greenloop.cli.view import View, open_view
from greenloop.core.celled import told
from greenloop.core.errors import GreenloopError, WorkspaceProblem
from greenloop.core.nouns import Outcome, Problem, Verified
from greenloop.notebook import Prepared
from greenloop.settings import Settings
from greenloop.strength import report


@dataclass(frozen=True, kw_only=True)
class Job:
    """What all runs of one command line share. `put` writes JSON objects; None: people read."""

    arguments: argparse.Namespace
    root: Path
    settings: Settings
    put: Callable[[dict[str, Any]], None] | None
    book: Book | None = None

    def named(self, text: str) -> str:
        """A text for people, with cells in place of what exists in the sandbox only."""
        return text if self.book is None else self.book.prepared.named(text)


@dataclass(frozen=True, kw_only=True)
class Book:
    """The notebook that a target is in, and the text of its file."""

    prepared: Prepared
    text: str

    def putting(self, put: Callable[[dict[str, Any]], None] | None) -> Callable[[dict[str, Any]], None] | None:
        """`put`, with cells in place of what exists in the sandbox only; a diff is what will be written."""
        if put is None:
            return None
        return lambda value: put(
            told(self.prepared.notebook, value) | {name: value[name] for name in value.keys() & {"diff"}}
        )


def ended(job: Job, outcome: Outcome, problem: Problem | None = None) -> int:
    """Shows the outcome, writes the files where that is wanted and allowed, and returns the exit code."""
    applied = False
    trouble: WorkspaceProblem | None = None
    ran = outcome
    outcome = outcome if job.book is None else job.book.prepared.shown(outcome)
    if job.put is None:
        _show(outcome)
    offered = outcome.solved and bool(outcome.after) and problem is not None
    if offered and _wanted(job, outcome):
        assert problem is not None
        try:
            _write(job, ran, problem)
            applied = True
        except WorkspaceProblem as error:
            trouble = error
    if applied and outcome.run is not None:
        _mark_applied(outcome.run)
    if applied and job.put is None:
        print(f"written: {_places(outcome)}")
    if job.arguments.strength and outcome.solved and outcome.best is not None and problem is not None:
        _strength(job, ran, problem)
    if job.put is not None:
        job.put(events_json.finished(outcome, applied=applied) | _trouble(trouble))
    if trouble is not None:
        tell(trouble)
        return trouble.exit_code
    if offered and not applied and job.arguments.apply:
        return codes.NOT_SOLVED
    return codes.of_outcome(outcome, job.arguments.accept)


def _trouble(error: WorkspaceProblem | None) -> dict[str, Any]:
    return {"message": str(error), "remedy": error.remedy} if error else {}


def _strength(job: Job, outcome: Outcome, problem: Problem) -> None:
    """Shows what the tests would also accept; where that cannot be had, it is said and nothing else changes."""
    try:
        with open_view(json=job.put is not None, named=job.named) as view:
            found = interrupt.run(
                engine.strength_of(problem, outcome, settings=job.settings, say=view.say), last_words=view.close
            )
    except GreenloopError as error:
        tell(error)
        return
    if job.put is not None:
        job.put(events_json.strength(found))
    else:
        print("\n".join(show.clean(job.named(row)) for row in report(found)))


def _write(job: Job, outcome: Outcome, problem: Problem) -> None:
    """Raises `WorkspaceProblem`; a cancelled re-verification writes nothing."""

    async def again(files: dict[str, bytes]) -> bool:
        verdict = await engine.reverify(problem, _as_run(job, files), settings=job.settings)
        return verdict.status.value == "passed" and not verdict.collateral

    def verify(files: dict[str, bytes]) -> bool:
        print("The files changed meanwhile; verifying the result over the change.", file=sys.stderr)
        try:
            return interrupt.run(again(files))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    originals = problem.originals
    if job.book is not None:
        originals = job.book.prepared.originals(problem, job.book.text)
        outcome = job.book.prepared.written(outcome, job.book.text)
    apply.write(job.root, outcome, originals=originals, verify=verify)


def _as_run(job: Job, files: dict[str, bytes]) -> dict[str, bytes]:
    """The files as the sandbox takes them: a notebook as its module and tests. Raises `UsageProblem`."""
    if job.book is None:
        return files
    book = job.book.prepared
    rest = {path: data for path, data in files.items() if path != book.notebook.path}
    text = files.get(book.notebook.path)
    return rest | (book.buffers if text is None else book.with_text(text.decode()).buffers)


def _wanted(job: Job, outcome: Outcome) -> bool:
    """May the result be written: by a flag, or because the user says so?"""
    arguments = job.arguments
    if arguments.apply and codes.taken(outcome, arguments.accept):
        return True
    later = f"`greenloop history apply {outcome.run or ''}".rstrip() + "` writes it"
    if job.put is None and View.can_ask():
        yes = View.ask("apply?")
        if not yes:
            print(f"not written; {later}", file=sys.stderr)
        return yes
    if arguments.apply:
        doubted = codes.accepted(outcome, arguments.accept)
        why = "of what it newly does" if doubted else f"it is {show.WORDS[outcome.verified]}"
        word = "warned" if doubted else "partial" if outcome.verified is Verified.PARTIALLY else "unverified"
        warn(f"not written, because {why}; --accept {word} takes such results, {later}")
    elif job.put is None:
        print(f"not written; {later}, --apply does so at once", file=sys.stderr)
    return False


def _show(outcome: Outcome) -> None:
    from rich.console import Console  # noqa: PLC0415 - programs that read JSON need not wait for it
    from rich.text import Text  # noqa: PLC0415

    from greenloop.cli.live import coloured_diff  # noqa: PLC0415

    console = Console(highlight=False)
    if outcome.solved and (diff := show.diff(outcome.before, outcome.after)):
        console.print(coloured_diff(diff), soft_wrap=True)
    colour = "green" if codes.of_outcome(outcome) == codes.VERIFIED else "yellow" if outcome.solved else "red"
    console.print(Text(show.verdict(outcome), style=colour), soft_wrap=True)
    best = show.best(outcome)
    if not outcome.solved and best is not None:
        which = f"best attempt {best.number} ({show.result(best)})"
        console.print(f"{which} is in the history: greenloop history show {outcome.run or ''}".rstrip(), soft_wrap=True)


def _places(outcome: Outcome) -> str:
    changed = [path for path in sorted(outcome.after) if outcome.after[path] != outcome.before.get(path)]
    return ", ".join(
        f"{show.clean(path)}:{show.line_changed(outcome.before.get(path), outcome.after[path])}" for path in changed
    )


def _mark_applied(run: int) -> None:
    from greenloop.history import History  # noqa: PLC0415

    history = History.open(warn=warn)
    history.applied(run)
    history.close()
