"""Titles, commands and arguments of code lenses. Pure; called for every target of a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from greenloop.core.records.spec import TargetKind
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.state.results import Result
from greenloop.lsp.state.run import Phase, Run
from greenloop.wording.attempt import count_passed, error_and_message
from greenloop.wording.outcome import describe_measured, level_and_reason

if TYPE_CHECKING:
    from greenloop.api.targets import Heading

LONGEST = 60  # maximum characters of an error

Lens = tuple[str, str, dict[str, str]]  # title, command, argument without the document's URI


def lenses_of(heading: Heading, run: Run | None, result: Result | None) -> Iterator[Lens]:
    """The lenses of one target, by the state of its run."""
    target = {"target": heading.selector}
    argument = {"target": run.target.selector} if run is not None else target
    if run is not None and run.running:
        if run.cancellable:
            yield "Cancel refinement", "greenloop.cancel", argument
        yield state(run, result), "greenloop.showAttempts", argument
        return
    yield "▶ Run", "greenloop.runTest", target
    if heading.is_class and heading.kind is TargetKind.TEST:
        yield "Refine all failing", "greenloop.refineAll", target
    else:
        yield "Refine", "greenloop.refine", {"test": heading.selector}
    if run is not None and run.offered:
        yield "Apply refined", "greenloop.apply", argument
    title = state(run, result)
    if title:
        yield title, "greenloop.showAttempts" if run is not None and run.attempts else "greenloop.runTest", argument


def state(run: Run | None, result: Result | None) -> str:
    """The state of a target in a few words: of its run, else of its last test result; "" without either."""
    if run is not None and run.running:
        return _progress(run)
    if run is not None and (run.offered or result is None):
        return _end(run)
    return describe_result(result) if result is not None else ""


def describe_result(result: Result) -> str:
    """`✓ 3/3`, or `✗ 1/3 AssertionError: …`."""
    score = f"{result.passed}/{result.total}"
    if result.total and result.passed == result.total:
        return f"✓ {score}"
    if result.outcome == "skipped":
        return "skipped"
    return _short(f"✗ {score} {result.message or result.outcome}")


def _progress(run: Run) -> str:
    if run.started is None:
        return _short(run.progress.status) or ("waiting" if run.phase is Phase.QUEUED else "starting")
    tested = [attempt.verdict for attempt in run.attempts if attempt.verdict.total]
    passed = f", {count_passed(tested[-1])}" if tested else ""
    return f"attempt {run.progress.number}/{run.limit}{passed}"


def _end(run: Run) -> str:
    if run.outcome is None:
        return "cancelled" if run.cancelled else _short(f"✗ {run.result.refusal}")
    label = level_and_reason(run.outcome).partition(":")[0]
    if run.outcome.solved:
        if measured := describe_measured(run.outcome.evidence.data):
            label += f", {measured.partition(' (')[0]}"
        return f"✓ {label}" if run.result.applied else f"✓ {label}, not applied" if run.changes else "✓ passes"
    return _short(f"✗ not solved: {error_and_message(run.attempts[-1])}" if run.attempts else "✗ not solved")


def _short(text: str) -> str:
    line = clean_for_display(text).replace("\n", " ").strip().rstrip(":")
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
