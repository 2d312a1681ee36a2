"""Describes an answer that was not run: the reason, and what to do instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from greenloop.core.fingerprint import is_same_code
from greenloop.core.records.attempt import Attempt, Finding
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._value_diff import shorten

MESSAGE = 400  # characters of a finding's own message

ADVICE = {
    "EmptyAnswer": "Answer with code.",
    "NoCode": "Put the whole code in one Python code block.",
    "TruncatedAnswer": "Answer with the code alone, without explanations or comments, so that it fits.",
    "WrongFunction": "Define what you are asked for, under its own name.",
    "SearchNotFound": "Copy the searched lines exactly, or answer with the whole code.",
    "SyntaxError": "Write valid Python.",
    "IndentationError": "Indent each level by four spaces.",
    "TabError": "Indent each level by four spaces, never by tabs.",
    "EncodingError": "Use plain ASCII characters.",
    "Unchanged": "Your answer must differ: change what makes the tests fail.",
    "Repeated": "It was tried before: solve it in another way.",
    "UndefinedName": "Define or import every name that you use.",
    "SignatureChanged": "Keep the name, the parameters and the decorators as they are.",
    "RegionDeleted": "Your answer must define it.",
    "Repetition": "Do not write the same lines again and again: use a loop, a table or a formula.",
    "EmptyHole": "Fill in code, not a comment or nothing.",
}


def describe_newest(problem: Problem, attempts: Sequence[Attempt], describe: Callable[[Problem, Attempt], str]) -> str:
    """The newest attempt as `describe` puts it; for one that was not run, the reason and an equal attempt that was.

    Code equal to an earlier attempt's fails as that did, and no other part would show how.
    """
    newest = attempts[-1]
    if newest.finding is None:
        return describe(problem, newest)
    refusal = rejection_sentence(newest.finding)
    twin = _equal_attempt(problem, newest, attempts[:-1])
    return f"{refusal}\n{describe(problem, twin)}".strip() if twin else refusal


def rejection_sentence(finding: Finding, advice: Mapping[str, str] = ADVICE) -> str:
    """The reason why an answer was not run, and what to do instead."""
    error_class = finding.error_class
    message = shorten(finding.message, MESSAGE)
    # Every model knows the names of Python's errors.
    python_error = f"{error_class}: " if error_class.endswith("Error") else ""
    place = f" (line {finding.line})" if finding.line and f"line {finding.line}" not in message else ""
    full_stop = "" if f"{message}{place}".endswith((".", ")")) else "."
    return f"The code was not run: {python_error}{message}{place}{full_stop} {advice.get(error_class, '')}".strip()


def _equal_attempt(problem: Problem, newest: Attempt, earlier: Sequence[Attempt]) -> Attempt | None:
    if newest.candidate is None:
        return None
    run = [attempt for attempt in earlier if attempt.finding is None]
    return next((attempt for attempt in run if is_same_code(problem, newest.candidate, attempt.candidate)), None)
