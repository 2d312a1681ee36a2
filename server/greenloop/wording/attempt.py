"""Puts an attempt into words: its label, its result, its error, all of it in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from greenloop.core.classify import is_of_workspace
from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.summary import CANNOT, fold_attempts, total_usage
from greenloop.core.text.redact import clean_for_display
from greenloop.wording.markup import code
from greenloop.wording.model import describe_model, describe_tokens
from greenloop.wording.outcome import describe_measured
from greenloop_sandbox import CaseResult

HEADS = ("attempt", "model", "result", "error", "tokens", "seconds", "cost")  # of a table
CELL = 60  # maximum characters of a cell
# Why a candidate never ran, by its error class; any other class is shown with its line.
REJECTIONS = {
    CANNOT: "no honest change, says the model",
    "EmptyAnswer": "empty answer",
    "EmptyHole": "empty infill",
    "HardCoded": "returns the tested values",
    "NoCode": "no code in the answer",
    "NoGain": "one-token edits",
    "NotEditable": "a file that may not be changed",
    "RegionDeleted": "function missing",
    "Repeated": "same as an earlier attempt",
    "Repetition": "the answer repeats itself",
    "SearchAmbiguous": "the text to replace is in several places",
    "SearchNotFound": "the text to replace was not found",
    "SignatureChanged": "signature changed",
    "TruncatedAnswer": "the answer was cut off",
    "Unchanged": "same code as before",
    "WrongFunction": "wrong function",
}


def attempt_label(attempt: Attempt) -> str:
    """The attempt's number, with its parent's where that is not the one before.

    Also the suspect that it is about, and the label of the idea that it follows: `2 (one pass with a set, O(n))`.
    """
    move = attempt.draft.move if attempt.draft else None
    label = str(attempt.number)
    if move is Move.RESTART or (move is Move.REFINE and attempt.parent != attempt.number - 1):
        label += f" ← {attempt.parent}"
    label = " in ".join(filter(None, [label, changed_suspect(attempt)]))
    return f"{label} ({attempt.draft.label})" if attempt.draft and attempt.draft.label else label


def changed_suspect(attempt: Attempt) -> str:
    """Returns the labels of the regions that an attempt was to change instead of the run's initial ones; else empty."""
    return ", ".join(region.label for region in (attempt.draft.regions if attempt.draft else ()))


def attempt_result(attempt: Attempt) -> str:
    """The result of an attempt in a few words: `1 of 3 tests pass`, `rejected`."""
    verdict = attempt.verdict
    match verdict.status:
        case Status.PASSED if verdict.still_red and not attempt.accepted:
            return f"passed; {len(verdict.still_red)} more still fail"
        case Status.PASSED:
            return "passed"
        case Status.FAILED if verdict.collateral and verdict.passed == verdict.total:
            return f"breaks {len(verdict.collateral)} other"
        case Status.FAILED:
            return f"{verdict.passed} of {verdict.total} tests pass"
        case Status.REFUSED:
            return "no improvement" if attempt.error_class == "NoGain" else "rejected"
        case _:
            return str(verdict.status.value).replace("-", " ")


def rejection(attempt: Attempt) -> str:
    """Returns why a candidate never ran, such as `rejected: same code as before`; empty for any other attempt."""
    if attempt.verdict.status is not Status.REFUSED:
        return ""
    reason = REJECTIONS.get(attempt.error_class, attempt.error_class)
    if attempt.finding is not None and attempt.finding.line and attempt.error_class not in REJECTIONS:
        reason += f" line {attempt.finding.line}"
    result = attempt_result(attempt)
    return f"{result} ({reason})" if attempt.error_class == "NoGain" else f"{result}: {reason}".rstrip(": ")


def attempt_gain(attempt: Attempt) -> str:
    """The gain of an attempt that passes, where one was measured: `41 ms → 6 ms (0.15, 0.13 to 0.17)`."""
    passes = attempt.verdict.status is Status.PASSED
    return describe_measured(attempt.verdict.data) if passes else ""


def summarize_infills(attempts: Sequence[Attempt]) -> str:
    """The results of several infills: `8 infills: AssertionError 5, Unchanged 3`."""
    counted = Counter(attempt.error_class or attempt.verdict.status.value for attempt in attempts)
    return f"{len(attempts)} infills: " + ", ".join(f"{name} {number}" for name, number in counted.most_common())


def count_passed(verdict: Verdict) -> str:
    """`1/3 passed`."""
    return f"{verdict.passed}/{verdict.total} passed"


def has_counts(attempt: Attempt) -> bool:
    """Do the numbers of passing tests say something? A pass that was faked counts nothing."""
    return bool(attempt.verdict.total) and attempt.verdict.status is not Status.TAMPERED


def attempt_line(attempt: Attempt) -> str:
    """An attempt in one line: `attempt 2: 1/3 passed, AssertionError: assert 15 == 10`."""
    name = f"attempt {attempt.number}" if attempt.number else "your code"
    result = count_passed(attempt.verdict) if has_counts(attempt) else attempt.verdict.status.value
    return ", ".join(filter(None, (f"{name}: {result}", error_and_message(attempt))))


def result_and_error(attempt: Attempt) -> str:
    """The result in words, and the error of one that ran: `1 of 3 tests pass, AssertionError: assert 15 == 10`."""
    return rejection(attempt) or ", ".join(filter(None, (attempt_result(attempt), error_and_message(attempt))))


def error_and_message(attempt: Attempt) -> str:
    """Error class and the first line of the first failure's message; of a passing attempt the gain, if any."""
    if attempt.verdict.status is Status.TAMPERED:
        return clean_for_display(f"{attempt.error_class}: {attempt.verdict.reason}").strip()
    message = error_message(attempt)
    if not attempt.error_class or message.startswith(attempt.error_class):
        return message if attempt.error_class or attempt.verdict.reason else attempt_gain(attempt)
    return f"{attempt.error_class}: {message}".rstrip(": ")


def error_message(attempt: Attempt) -> str:
    """The first line of the first failure's message, else of the verdict's reason."""
    verdict = attempt.verdict
    failures = (case.failure for case in (*verdict.cases, *verdict.collateral) if case.failure)
    is_tampered = verdict.status is Status.TAMPERED
    message = verdict.reason if is_tampered else next((failure.message for failure in failures), verdict.reason)
    return (clean_for_display(message).strip().splitlines() or [""])[0]


def error_and_place(attempt: Attempt) -> str:
    """Error class and place, `AssertionError test_m.py:5`; for a faked pass how it was detected; else the gain."""
    if attempt.verdict.status is Status.TAMPERED:
        return f"{attempt.error_class}: {attempt.verdict.reason}".strip()
    if attempt.verdict.status is Status.REFUSED and attempt.error_class in REJECTIONS:
        return REJECTIONS[attempt.error_class]
    return " ".join(filter(None, (attempt.error_class, failure_place(attempt)))) or attempt_gain(attempt)


def failure_place(attempt: Attempt) -> str:
    """`file:line` of the innermost frame in the workspace; empty when there is none."""
    if attempt.finding is not None:
        return f"line {attempt.finding.line}" if attempt.finding.line else ""
    case = first_failure(attempt)
    frames = case.failure.frames if case and case.failure else ()
    # Paths outside the workspace are absolute; the innermost frame of the user's own code is more helpful.
    own_frames = [frame for frame in frames if is_of_workspace(frame)]
    return f"{own_frames[-1].path}:{own_frames[-1].line}" if own_frames else ""


def first_failure(attempt: Attempt) -> CaseResult | None:
    """The case that explains an attempt best: the first failing target, else a related test that it broke."""
    results = (*attempt.verdict.cases, *attempt.verdict.collateral)
    failing = [case for case in results if not case.passed]
    return next((case for case in failing if case.failure), failing[0] if failing else None)


def attempt_table(attempts: Sequence[Attempt]) -> str:
    """A table with aligned columns; consecutive infills that solved nothing share a row."""
    rows = [HEADS, *(_row(group) for group in fold_attempts(attempts))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    table_lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    table_lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(table_lines)


def _row(group: Sequence[Attempt]) -> tuple[str, ...]:
    """The row of one attempt, or of several infills: the best of them, with their total cost."""
    attempt = max(group, key=lambda attempt: attempt.verdict.score)
    verdict, usage = attempt.verdict, total_usage(group)
    passed = f"{verdict.passed}/{verdict.total}" if has_counts(attempt) else ""
    cost = "" if not attempt.number else "?" if usage.cost is None else f"${usage.cost:.4f}" if usage.cost else "0"
    is_group = len(group) > 1
    return (
        f"{group[0].number}-{group[-1].number}" if is_group else attempt_label(attempt),
        _cell(describe_model(attempt.model)) if attempt.number else "your code",
        " ".join(part for part in (verdict.status.value, passed) if part),
        _cell(summarize_infills(group) if is_group else error_and_message(attempt)),
        describe_tokens(usage) if attempt.number or usage.tokens else "",
        f"{usage.model_seconds + usage.test_seconds:.1f}",
        cost,
    )


def _cell(text: str) -> str:
    short = clean_for_display(text).replace("\n", " ").strip()
    return code(short[: CELL - 1] + "…" if len(short) > CELL else short) if short else ""


def first_rows(text: str, most: int) -> str:
    """The first rows of a text; the rest are counted."""
    rows = text.split("\n")
    return text if len(rows) <= most else "\n".join([*rows[:most], f"… {len(rows) - most} more lines"])
