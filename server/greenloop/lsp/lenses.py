"""What stands above a test or target: titles, commands and their arguments. Pure; asked for every target of a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from greenloop.core.nouns import TargetKind
from greenloop.core.redact import clean
from greenloop.lsp.presenters.status import standing
from greenloop.lsp.presenters.words import error_of
from greenloop.lsp.results import Result
from greenloop.lsp.runs import Phase, Run

if TYPE_CHECKING:
    from greenloop.targets import Heading

LONGEST = 60  # characters of an error

Lens = tuple[str, str, dict[str, str]]  # title, command, argument beside the document's URI


def above(heading: Heading, run: Run | None, result: Result | None) -> Iterator[Lens]:
    """The lenses of one target in the state that its run is in."""
    target = {"target": heading.selector}
    about = {"target": run.target.selector} if run is not None else target
    if run is not None and run.running:
        if run.cancellable:
            yield "Cancel refinement", "greenloop.cancel", about
        yield state(run, result), "greenloop.showAttempts", about
        return
    yield "▶ Run", "greenloop.runTest", target
    if heading.is_class and heading.kind is TargetKind.TEST:
        yield "Refine all failing", "greenloop.refineAll", target
    else:
        yield "Refine", "greenloop.refine", {"test": heading.selector}
    if run is not None and run.offered:
        yield "Apply refined", "greenloop.apply", about
    said = state(run, result)
    if said:
        yield said, "greenloop.showAttempts" if run is not None and run.attempts else "greenloop.runTest", about


def state(run: Run | None, result: Result | None) -> str:
    """What is known of a test or target in a few words: of its run, else how it ended last; "" for nothing."""
    if run is not None and run.running:
        return _progress(run)
    if run is not None and (run.offered or result is None):
        return _ended(run)
    return of_result(result) if result is not None else ""


def of_result(result: Result) -> str:
    """`✓ 3/3`, or `✗ 1/3 AssertionError: …`."""
    counted = f"{result.passed}/{result.total}"
    if result.total and result.passed == result.total:
        return f"✓ {counted}"
    if result.outcome == "skipped":
        return "skipped"
    return _short(f"✗ {counted} {result.message or result.outcome}")


def _progress(run: Run) -> str:
    if run.started is None:
        return _short(run.now) or ("waiting" if run.phase is Phase.QUEUED else "starting")
    number = run.planned.attempt if run.planned else 1
    tested = [attempt.verdict for attempt in run.attempts if attempt.verdict.total]
    passed = f", {tested[-1].passed}/{tested[-1].total} passed" if tested else ""
    return f"attempt {number}/{run.limit}{passed}"


def _ended(run: Run) -> str:
    if run.outcome is None:
        return "cancelled" if run.cancelled else _short(f"✗ {run.refused}")
    label = standing(run.outcome).partition(" (")[0]
    if run.outcome.solved:
        return f"✓ {label}" if run.applied else f"✓ {label}, not applied" if run.changes else "✓ green"
    return _short(f"✗ not solved: {error_of(run.attempts[-1])}" if run.attempts else "✗ not solved")


def _short(text: str) -> str:
    row = clean(text).replace("\n", " ").strip().rstrip(":")
    return row if len(row) <= LONGEST else row[: LONGEST - 1] + "…"
