"""Outcomes and attempts as text for people; pure, no terminal in here.

Whatever models, tests and files say goes through `clean`: a terminal obeys what it is sent.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from greenloop.core.diff import unified
from greenloop.core.nouns import Attempt, CaseResult, Outcome, Status, Verified

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
WORDS = {Verified.VERIFIED: "verified", Verified.PARTIALLY: "partially verified", Verified.UNVERIFIED: "unverified"}


def clean(text: str) -> str:
    """The text with every control and direction character made visible, line ends and tabs kept."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def one_line(text: str, longest: int = 120) -> str:
    """The first line that says something, cut."""
    line = next((line.strip() for line in clean(text).splitlines() if line.strip()), "")
    return line if len(line) <= longest else line[: longest - 1] + "…"


def diff(before: Mapping[str, str | None], after: Mapping[str, str]) -> str:
    """The change of all files as `git apply` takes it; empty when nothing changed."""
    return "".join(unified(before.get(path), after[path], path) for path in sorted(after))


def line_changed(before: str | None, after: str) -> int:
    """The first line of the new text that differs, 1-based."""
    old, new = (before or "").splitlines(), after.splitlines()
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return min(same, max(len(new) - 1, 0)) + 1


def first_failure(attempt: Attempt) -> CaseResult | None:
    """The case that explains an attempt best: the first failing target, else a neighbour it broke."""
    results = (*attempt.verdict.cases, *attempt.verdict.collateral)
    failing = [case for case in results if not case.passed]
    return next((case for case in failing if case.failure), failing[0] if failing else None)


def place(attempt: Attempt) -> str:
    """`file:line` of the innermost frame in the workspace, empty when there is none."""
    if attempt.finding is not None:
        return f"line {attempt.finding.line}" if attempt.finding.line else ""
    case = first_failure(attempt)
    frames = case.failure.frames if case and case.failure else ()
    # Paths outside the workspace are absolute; the innermost of the user's own says more.
    own = [frame for frame in frames if not frame.path.startswith(("/", "<")) and ":" not in frame.path]
    return clean(f"{own[-1].path}:{own[-1].line}") if own else ""


def result(attempt: Attempt) -> str:
    """What became of an attempt, in a word or two."""
    verdict = attempt.verdict
    match verdict.status:
        case Status.PASSED:
            return "passed"
        case Status.FAILED if verdict.collateral and verdict.passed == verdict.total:
            return f"breaks {len(verdict.collateral)} other"
        case Status.FAILED:
            return f"{verdict.passed}/{verdict.total} passed"
        case _:
            return str(verdict.status.value)


def error(attempt: Attempt) -> str:
    """Error class and place, `AssertionError test_m.py:5`; of a faked pass how it was seen."""
    if attempt.verdict.status is Status.TAMPERED:
        return one_line(f"{attempt.error_class}: {attempt.verdict.reason}", longest=400)
    return " ".join(part for part in (clean(attempt.error_class), place(attempt)) if part)


def model(name: str) -> str:
    """A model's name without the file that a scripted or replayed one reads."""
    kind, colon, _file = name.partition(":")
    return kind if colon and kind in ("scripted", "replay") else clean(name)


def seconds(attempt: Attempt) -> float:
    return attempt.spent.model_seconds + attempt.spent.test_seconds


def count(outcome: Outcome) -> int:
    """How many candidates a model made; attempt 0 is the user's own code."""
    return sum(attempt.number > 0 for attempt in outcome.attempts)


def verdict(outcome: Outcome) -> str:
    """The sentence a run ends with; the engine counts out in it what verified the result."""
    fallback = WORDS[outcome.verified] if outcome.solved else f"not solved: {outcome.reason.value}"
    return clean(outcome.message) or fallback


def best(outcome: Outcome) -> Attempt | None:
    return next((attempt for attempt in outcome.attempts if attempt.number == outcome.best and attempt.number), None)


def moment(epoch: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(epoch))
