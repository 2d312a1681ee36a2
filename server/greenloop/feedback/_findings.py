"""What is said of an answer that was not run: why not, and what to do instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from greenloop.core.gate import same
from greenloop.core.nouns import Attempt, Finding, Problem
from greenloop.feedback._values import short

MESSAGE = 400  # characters of a finding's own sentence

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


def told(problem: Problem, attempts: Sequence[Attempt], describe: Callable[[Problem, Attempt], str]) -> str:
    """`describe` of the newest attempt; of one that was not run, why not, and `describe` of an equal one that was.

    Code that is equal to an earlier attempt's fails as that did, and nobody else would say how.
    """
    newest = attempts[-1]
    if newest.finding is None:
        return describe(problem, newest)
    said = sentence(newest.finding)
    twin = _twin(problem, newest, attempts[:-1])
    return f"{said}\n{describe(problem, twin)}".strip() if twin else said


def sentence(finding: Finding) -> str:
    """Why an answer was not run, and what to do instead."""
    name = finding.error_class
    message = short(finding.message, MESSAGE)
    pythons = f"{name}: " if name.endswith("Error") else ""  # one that every model knows
    place = f" (line {finding.line})" if finding.line and f"line {finding.line}" not in message else ""
    stop = "" if f"{message}{place}".endswith((".", ")")) else "."
    return f"The code was not run: {pythons}{message}{place}{stop} {ADVICE.get(name, '')}".strip()


def _twin(problem: Problem, newest: Attempt, earlier: Sequence[Attempt]) -> Attempt | None:
    if newest.candidate is None:
        return None
    ran = [attempt for attempt in earlier if attempt.finding is None]
    return next((attempt for attempt in ran if same(problem, newest.candidate, attempt.candidate)), None)
