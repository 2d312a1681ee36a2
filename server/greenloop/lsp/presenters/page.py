"""The text of read-only pages: the course of a run in full, a comparison, a result before it is applied. Markdown.

Whatever models and tests wrote is cleaned, fenced and cut to a length: no links, no images, no control characters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from greenloop.core.diff import flat, merge, unified
from greenloop.core.nouns import Attempt
from greenloop.core.redact import clean
from greenloop.core.summary import label
from greenloop.lsp.presenters import report
from greenloop.lsp.presenters.report import code, fenced
from greenloop.lsp.presenters.status import standing
from greenloop.lsp.presenters.words import line_of

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run

READ_ONLY = "_Written by greenloop, read-only: nothing is read back from this page._"
PIECE = 10_000  # characters of one answer, diff or output
WHOLE = 1_000_000  # characters of a page
SHORT = 20  # lines of a diff within a message
TESTS = 200


def attempts(runs: Sequence[Run]) -> str:
    """Everything about each run: its attempts with their change, failures, output, feedback and price."""
    parts = [READ_ONLY]
    for run in runs:
        parts += [f"# {code(report.title(run))}", report.table(run.attempts), *report.provenance(run)]
        parts += report.written(run, markup=True, most=TESTS)
        for attempt in run.attempts:
            parts += _attempt(run, attempt)
    return _bounded("\n\n".join(parts) + "\n")


def compared(run: Run, attempt: Attempt, now: Mapping[str, str | None]) -> str:
    """What putting an attempt in would change in `now`, the texts of the files that it concerns."""
    parts = [
        f"# {code(f'{run.target.selector}: {_name(attempt)} and your text now')}",
        READ_ONLY,
        code(line_of(attempt)),
    ]
    before, after = _texts(run, attempt)
    if not after:
        return "\n\n".join([*parts, "It has no code that could be compared."]) + "\n"
    merged = {path: _put_in(before.get(path), text, now.get(path)) for path, text in after.items()}
    clash = [path for path, text in merged.items() if text is None]
    texts = {path: flat(after[path]) if text is None else text for path, text in merged.items()}
    parts += [f"{code(path)} changed since in the same lines, which stand here too." for path in clash]
    found = diff(now, texts)
    parts.append(fenced(found, "diff") if found else "Your text has all of it.")
    return _bounded("\n\n".join(parts) + "\n")


def result(run: Run, found: str) -> str:
    """What is about to be applied, given as a diff."""
    assert run.outcome is not None
    heading = f"# {code(f'{run.target.selector}: {standing(run.outcome)}')}"
    return _bounded("\n\n".join([heading, READ_ONLY, "Not applied yet:", fenced(found, "diff")]) + "\n")


def short(found: str) -> str:
    """A diff for a message: its first lines, without the files' heads."""
    lines = [line for line in clean(found).splitlines() if not line.startswith(("--- ", "+++ "))]
    left = len(lines) - SHORT
    return "\n".join([*lines[:SHORT], f"… {left} more lines"] if left > 0 else lines)


def diff(before: Mapping[str, str | None], after: Mapping[str, str]) -> str:
    """All files' changes in one unified diff; line ends alone are no change."""
    pairs = [(path, before.get(path), text) for path, text in sorted(after.items())]
    return "".join(unified(None if old is None else flat(old), flat(text), path) for path, old, text in pairs)


def paths(run: Run, attempt: Attempt) -> list[str]:
    """The files that an attempt concerns."""
    return sorted(_texts(run, attempt)[1])


def _texts(run: Run, attempt: Attempt) -> tuple[dict[str, str | None], dict[str, str]]:
    """Texts by path, as they were when the run began and as the attempt has them. The user's own code is both."""
    from greenloop.core.compose import before_after  # noqa: PLC0415 - only runs need it, not the start

    if run.started is None:
        return {}, {}
    problem = run.started.problem
    if not attempt.number:
        own = {region.path: problem.originals.get(region.path) for region in problem.regions}
        return {}, {path: text for path, text in own.items() if text is not None}
    return before_after(problem, attempt.candidate) if attempt.candidate is not None else ({}, {})


def _put_in(before: str | None, after: str, now: str | None) -> str | None:
    """The text now with the attempt's change; None where what was typed since stands in its way."""
    if before is None:
        return flat(after)
    return merge(flat(before), flat(after), flat(now or ""))


def _attempt(run: Run, attempt: Attempt) -> list[str]:
    parts = [f"## {_name(attempt).capitalize()}", *_facts(attempt)]
    if attempt.verdict.reason:
        parts.append(code(attempt.verdict.reason))
    for case in (*attempt.verdict.cases, *attempt.verdict.collateral):
        parts.append(f"{code(case.id)}: {case.outcome}")
        if case.failure is not None:
            parts.append(_piece(case.failure.text or case.failure.message, "text"))
    if attempt.verdict.output.strip():
        parts += ["Output of the tests:", _piece(attempt.verdict.output, "text")]
    if change := report.diff_of(run, attempt):
        parts += ["Change:", _piece(change, "diff")]
    if attempt.answer:
        parts += ["Answer of the model:", _piece(attempt.answer, "text")]
    if why := report.explanation(attempt):
        parts += ["Explanation of the critic:", fenced(report.wrapped(why), "text")]
    given = "\n\n".join(note.text for note in attempt.notes if note.text.strip())
    return [*parts, "Feedback that was given:", _piece(given, "text")] if given else parts


def _facts(attempt: Attempt) -> list[str]:
    """Where it comes from and what it cost, in a line."""
    if not attempt.number:
        return [f"Tests: {attempt.verdict.seconds:.1f} s."]
    usage, draft = attempt.spent, attempt.draft
    cost = "price unknown" if usage.cost is None else f"${usage.cost:.4f}"
    made = f"{draft.move.value} by {code(attempt.model)}" if draft else code(attempt.model)
    tokens = f"{usage.tokens} tokens ({usage.prompt_tokens} read, {usage.completion_tokens} written)"
    return [f"{made}: {tokens}, {cost}, model {usage.model_seconds:.1f} s, tests {usage.test_seconds:.1f} s."]


def _name(attempt: Attempt) -> str:
    return f"attempt {label(attempt)}" if attempt.number else "your code"


def _piece(text: str, language: str) -> str:
    left = len(text) - PIECE
    return fenced(text[:PIECE] + f"\n… {left} more characters" if left > 0 else text, language)


def _bounded(text: str) -> str:
    return text if len(text) <= WHOLE else f"{text[:WHOLE]}\n\n… cut: the page would be too long.\n"
