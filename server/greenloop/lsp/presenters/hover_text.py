"""A run's history as text for a hover, and the building blocks of pages.

Text from models and tests is cleaned and fenced: no links, no images, no control characters.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from greenloop import api
from greenloop.core.budget import format_estimate
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.verdict import Status
from greenloop.core.text.diff import diff_files
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.presenters.notifications import evidence_text
from greenloop.lsp.state import attempt_texts
from greenloop.lsp.state.run import Run
from greenloop.wording.attempt import attempt_table
from greenloop.wording.generated_tests import count_tests, list_item, list_rows
from greenloop.wording.markup import code, code_block
from greenloop.wording.model import LOOKS, describe_model, describe_questions, list_looks
from greenloop.wording.notes import describe_withdrawn, list_notes
from greenloop.wording.outcome import measured_rows, outcome_in_short

DIFF = 40  # maximum lines of a diff in a hover
TESTS = 20  # maximum tests that a hover lists
HOT = 8  # maximum lines before and after a change whose costs a hover lists
HEAT = "Cost by line, with the profiler's own:"

# The diffs of each run by id; each entry also holds its candidate or outcome, so that the id stays valid.
_DIFFS: WeakKeyDictionary[Run, dict[int, tuple[object, str]]] = WeakKeyDictionary()


def markdown(run: Run) -> str:
    """The hover: state, costs of lines, attempts, looks, diff of the best or shown attempt, origin of tests."""
    costs = [HEAT, code_block(rows, "text")] if (rows := heat(run)) else []
    table = [attempt_table(run.attempts)] if run.attempts or not run.runs_ahead else []
    estimate = run.started.estimate if run.started is not None and run.running else None
    estimated = [f"Estimate: {format_estimate(estimate)}."] if estimate else []
    parts = [f"**{code(title(run))}**", *estimated, *costs, *table, *map(code, _tampering(run))]
    parts += [*describe_asked(run), *list_all_looks(run)]
    heading, diff = _change(run)
    parts += [heading, code_block(diff, "diff")] if diff else []
    return "\n\n".join([*parts, *provenance(run), *notes(run), *generated_tests(run)])


def heat(run: Run) -> str:
    """Shows the cost of the changed function's lines before and after, as rows with bars; "" if it is not known."""
    return clean_for_display("\n".join(measured_rows(run.outcome.evidence.data, HOT))) if run.outcome else ""


def best_diff(run: Run) -> str:
    """The diff of the result, else of the best attempt so far."""
    if run.outcome is not None and run.changes:
        before, after = run.outcome.before, run.changes
        return _cached_diff(run, run.outcome, lambda: diff_files(before, after))
    honest = [attempt for attempt in run.attempts if attempt.verdict.status is not Status.TAMPERED]
    with_code = [attempt for attempt in honest if attempt.candidate is not None]
    best = max(with_code, key=lambda attempt: attempt.verdict.score, default=None)
    return diff_of(run, best) if best is not None else ""


def diff_of(run: Run, attempt: Attempt) -> str:
    """The diff of an attempt's change to the user's files."""
    return (
        _cached_diff(run, attempt.candidate, lambda: diff_files(*attempt_texts.attempt_change(run, attempt)))
        if attempt.candidate
        else ""
    )


def _cached_diff(run: Run, subject: object, make: Callable[[], str]) -> str:
    """The cached diff of a candidate or an outcome: it never changes, and every hover needs it."""
    cached = _DIFFS.setdefault(run, {})
    if id(subject) not in cached:
        cached[id(subject)] = (subject, make())
    return cached[id(subject)][1]


def title(run: Run) -> str:
    return f"{clean_for_display(run.target.selector)}: {state(run)}"


def state(run: Run) -> str:
    """The run's state in a few words."""
    if run.running or run.outcome is None:
        return (
            (clean_for_display(run.progress.status) or "refining") if run.running else (run.result.refusal or "stopped")
        )
    applied = ", applied" if run.result.applied else ", not applied" if run.changes else ""
    if run.outcome.reason is StopReason.ALREADY_GREEN:
        return "already passes"
    if run.outcome.solved:
        return f"{outcome_in_short(run.outcome)}{applied}"
    return f"not solved ({run.outcome.reason.value}){applied if run.result.applied else ''}"


def _tampering(run: Run) -> list[str]:
    """A line for each attempt that tampered with its tests: a table cell is too short to say how."""
    return [
        f"attempt {attempt.number} tampered with the tests: {clean_for_display(attempt.verdict.reason)}"
        for attempt in run.attempts
        if attempt.verdict.status is Status.TAMPERED
    ]


def _change(run: Run) -> tuple[str, str]:
    """A heading and the diff of the attempt that the user chose, else of the best one."""
    if run.view.chosen_attempt is None or run.shown_attempt is None:
        return "Best attempt:", _shorten(best_diff(run))
    return f"Attempt {run.shown_attempt.number} (shown):", _shorten(diff_of(run, run.shown_attempt))


def provenance(run: Run) -> list[str]:
    """The origin of the tests, the result, and the cost of withdrawn questions."""
    census_text = count_tests(run.spec) if run.spec is not None else ""
    sentences = [f"Tests: {census_text}." if census_text else ""]
    if run.outcome is not None and run.outcome.solved:
        sentences.append(f"Result: {evidence_text(run.outcome)}")
        sentences.append(describe_withdrawn(run.outcome.withdrawn))
    return [line for line in sentences if line]


def generated_tests(run: Run, *, most: int = TESTS) -> list[str]:
    """The tests that greenloop wrote, with the evidence for each; those that no longer count are struck through."""
    if run.progress.specified is None:
        return []
    rows = list_rows(
        run.progress.specified.spec, has_votes=bool(run.progress.specified.reason), discarded=_struck_out(run)
    )
    shown = [list_item(row) for row in rows[:most]]
    if len(rows) > most:
        shown.append(f"- … {len(rows) - most} more")
    doubts = run.progress.specified.spec.doubts
    doubt_lines = [f"In doubt: {code(doubt)}" for doubt in doubts]
    return ["\n".join(part) for part in (shown, doubt_lines) if part]


def _struck_out(run: Run) -> tuple[str, ...]:
    regions = run.started.problem.regions if run.started else ()
    path, qualname = (regions[0].path, regions[0].qualname) if regions else (run.target.path, run.target.qualname)
    return api.generated_tests.struck_lines(run.root, path, qualname)


def _shorten(diff: str) -> str:
    lines = clean_for_display(diff).splitlines()
    return "\n".join([*lines[:DIFF], f"… {len(lines) - DIFF} more lines"]) if len(lines) > DIFF else "\n".join(lines)


def model_name(run: Run) -> str:
    """The model with its kind; empty before the run has begun."""
    return clean_for_display(describe_model(run.started.model, run.started.kind)) if run.started else ""


def describe_asked(run: Run) -> list[str]:
    """A sentence: `Model: openai/gpt-5.1 (capable), 1 question, 3 looks, 12,300 tokens.`; none before the start."""
    name = model_name(run)
    return [f"Model: {', '.join(filter(None, [code(name), describe_questions(run.attempts)]))}."] if name else []


def list_all_looks(run: Run, *, most: int = LOOKS) -> list[str]:
    """The first looks of a run, below the attempt that they came before; of the chosen attempt only its own."""
    parts = []
    left = most
    for number, looks in run.progress.looks_by_attempt.items():
        if run.view.chosen_attempt in (None, number) and left > 0:
            listed = "\n".join(f"- {code(row)}" for row in list_looks(looks, left))
            parts.append(f"Looks before attempt {number}:\n\n{listed}")
            left -= len(looks)
    return parts


def notes(run: Run) -> list[str]:
    """Lists points to check in the change of a solved run, a line each."""
    found = list_notes(run.outcome) if run.outcome is not None else ()
    return [f"Note: {code(note)}" for note in found]
