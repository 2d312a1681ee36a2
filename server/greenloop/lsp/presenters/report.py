"""The history of a run as text for a hover, and the pieces that pages are made of.

Whatever models and tests wrote is cleaned and fenced: no links, no images, no control characters.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from greenloop.core.diff import unified
from greenloop.core.estimate import told
from greenloop.core.nouns import Attempt, Status, StopReason
from greenloop.core.redact import clean
from greenloop.core.summary import folded, label, of_holes, spent
from greenloop.core.told import Line, census, lines
from greenloop.lsp import tried
from greenloop.lsp.presenters.status import standing
from greenloop.lsp.presenters.words import error_of

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run

HEADS = ("attempt", "model", "result", "error", "tokens", "seconds", "cost")
# Characters of one cell, and lines of a diff, that a hover shows.
CELL = 60
DIFF = 40
TESTS = 20  # tests that a hover lists
WIDTH = 100  # characters of a row of prose

# The diffs of each run; each stands beside what it is of, which so keeps its id.
_KNOWN: WeakKeyDictionary[Run, dict[int, tuple[object, str]]] = WeakKeyDictionary()


def markdown(run: Run) -> str:
    """The hover: state, the table, the change of the best attempt or of the shown one, where the tests come from."""
    parts = [f"**{code(title(run))}**", *_foreseen(run), *_table(run), *map(code, _tampered(run))]
    if told := _explained(run):
        parts += [_critic(told), fenced(wrapped(explanation(told)), "text")]
    heading, diff = _change(run)
    parts += [heading, fenced(diff, "diff")] if diff else []
    return "\n\n".join([*parts, *provenance(run), *written(run, markup=True)])


def plain(run: Run) -> str:
    """The same for editors that show text as it is."""
    parts = [title(run), *_foreseen(run), *_table(run), *_tampered(run)]
    if told := _explained(run):
        parts += [_critic(told), wrapped(explanation(told))]
    heading, diff = _change(run)
    parts += [heading, diff.rstrip("\n")] if diff else []
    return "\n\n".join([*parts, *provenance(run), *written(run, markup=False)])


def table(attempts: Sequence[Attempt]) -> str:
    """A Markdown table whose columns are aligned, so that it reads well raw."""
    rows = [HEADS, *(_row(group) for group in folded(attempts))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def best_diff(run: Run) -> str:
    """The change of the result, or of the best attempt so far."""
    if run.outcome is not None and run.changes:
        before, after = run.outcome.before, run.changes
        return _once(run, run.outcome, lambda: _unified(before, after))
    honest = [attempt for attempt in run.attempts if attempt.verdict.status is not Status.TAMPERED]
    tried = [attempt for attempt in honest if attempt.candidate is not None]
    best = max(tried, key=lambda attempt: attempt.verdict.score, default=None)
    return diff_of(run, best) if best is not None else ""


def diff_of(run: Run, attempt: Attempt) -> str:
    """What an attempt would change in the user's files."""
    return _once(run, attempt.candidate, lambda: _unified(*tried.changed(run, attempt))) if attempt.candidate else ""


def _unified(before: Mapping[str, str | None], after: Mapping[str, str]) -> str:
    return "".join(unified(before.get(path), text, path) for path, text in sorted(after.items()))


def _once(run: Run, of: object, make: Callable[[], str]) -> str:
    """What a candidate or an outcome of a run changes: never another, and asked for at every hover."""
    known = _KNOWN.setdefault(run, {})
    if id(of) not in known:
        known[id(of)] = (of, make())
    return known[id(of)][1]


def explanation(attempt: Attempt) -> str:
    """Why an attempt failed, in the words of a model that was asked; "" where none was."""
    return "\n".join(str(note.fields["explanation"]) for note in attempt.notes if note.fields.get("explanation"))


def fenced(text: str, language: str) -> str:
    """A code block that its content cannot leave."""
    body = clean(text).rstrip("\n")
    longest = max((len(ticks) for ticks in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def _table(run: Run) -> list[str]:
    """None for a run that waits for its turn."""
    return [table(run.attempts)] if run.attempts or not run.ahead else []


def title(run: Run) -> str:
    return f"{clean(run.target.selector)}: {state(run)}"


def state(run: Run) -> str:
    """How it stands, in a few words."""
    if run.running or run.outcome is None:
        return (clean(run.now) or "refining") if run.running else (run.refused or "stopped")
    place = ", applied" if run.applied else ", not applied" if run.changes else ""
    if run.outcome.reason is StopReason.ALREADY_GREEN:
        return "green already"
    if run.outcome.solved:
        return f"{standing(run.outcome)}{place}"
    return f"not solved ({run.outcome.reason.value}){place if run.applied else ''}"


def _foreseen(run: Run) -> list[str]:
    """What a run that is under way was foreseen to come to."""
    known = run.started.estimate if run.started is not None and run.running else None
    return [f"It takes {told(known)}."] if known else []


def _tampered(run: Run) -> list[str]:
    """A line for each attempt that faked its pass: a cell of the table is too short to say how."""
    return [
        f"attempt {attempt.number} tampered: {clean(attempt.verdict.reason)}"
        for attempt in run.attempts
        if attempt.verdict.status is Status.TAMPERED
    ]


def _explained(run: Run) -> Attempt | None:
    """The newest attempt that somebody explained, or the one that the user stepped to."""
    attempts = run.attempts if run.stepped is None else [run.shown] if run.shown else []
    return next((attempt for attempt in reversed(attempts) if explanation(attempt)), None)


def _critic(attempt: Attempt) -> str:
    return f"Why attempt {attempt.number} failed, says its critic:"


def _change(run: Run) -> tuple[str, str]:
    """A heading and the diff of the attempt that the user stepped to; else of the best one."""
    if run.stepped is None or run.shown is None:
        return "Best attempt:", _shortened(best_diff(run))
    return f"Attempt {run.shown.number}, which is shown:", _shortened(diff_of(run, run.shown))


def wrapped(text: str) -> str:
    return "\n".join(row for line in clean(text).split("\n") for row in textwrap.wrap(line, WIDTH))


def _row(group: Sequence[Attempt]) -> tuple[str, ...]:
    """One attempt, or several holes: these by the best of them, and what they cost together."""
    attempt = max(group, key=lambda attempt: attempt.verdict.score)
    verdict, usage = attempt.verdict, spent(group)
    counted = verdict.total and verdict.status is not Status.TAMPERED
    passed = f"{verdict.passed}/{verdict.total}" if counted else ""
    cost = "" if not attempt.number else "?" if usage.cost is None else f"${usage.cost:.4f}" if usage.cost else "0"
    several = len(group) > 1
    return (
        f"{group[0].number}-{group[-1].number}" if several else label(attempt),
        _cell(attempt.model) if attempt.number else "your code",
        " ".join(part for part in (verdict.status.value, passed) if part),
        _cell(of_holes(group) if several else error_of(attempt)),
        str(usage.tokens) if attempt.number else "",
        f"{usage.model_seconds + usage.test_seconds:.1f}",
        cost,
    )


def _cell(text: str) -> str:
    short = clean(text).replace("\n", " ").strip()
    return code(short[: CELL - 1] + "…" if len(short) > CELL else short) if short else ""


def code(text: str) -> str:
    """A code span: nothing in it is markup, and no bar ends a cell."""
    return "`" + clean(text).replace("`", "'").replace("|", "¦").replace("\n", " ") + "`"


def provenance(run: Run) -> list[str]:
    """Whose tests there are, and what they came to."""
    counted = census(run.spec) if run.spec is not None else ""
    lines = [f"Tests: {counted}." if counted else ""]
    if run.outcome is not None and run.outcome.solved:
        lines.append(f"Result: {standing(run.outcome)}.")
    return [line for line in lines if line]


def written(run: Run, *, markup: bool, most: int = TESTS) -> list[str]:
    """The tests that greenloop wrote down, with what each is worth; what counts no more is struck through."""
    if run.specified is None:
        return []
    rows = lines(run.specified.spec, voted=bool(run.specified.said), struck=_struck(run))
    shown = [_test(row, markup=markup) for row in rows[:most]]
    if len(rows) > most:
        shown.append(f"- … {len(rows) - most} more")
    doubts = [clean(doubt) for doubt in run.specified.spec.doubts]
    told = [f"In doubt: {code(doubt) if markup else doubt}" for doubt in doubts]
    return ["\n".join(part) for part in (shown, told) if part]


def _test(row: Line, *, markup: bool) -> str:
    source = code(row.source) if markup else clean(row.source)
    if row.lost:
        source = f"~~{source}~~" if markup else f"[{source}]"
    return f"- {source} {row.why}"


def _struck(run: Run) -> tuple[str, ...]:
    from greenloop import docket  # noqa: PLC0415 - only runs need it, not the start

    regions = run.started.problem.regions if run.started else ()
    path, name = (regions[0].path, regions[0].qualname) if regions else (run.target.path, run.target.qualname)
    return docket.struck(run.root, path, name)


def _shortened(diff: str) -> str:
    lines = clean(diff).splitlines()
    return "\n".join([*lines[:DIFF], f"… {len(lines) - DIFF} more lines"]) if len(lines) > DIFF else "\n".join(lines)
