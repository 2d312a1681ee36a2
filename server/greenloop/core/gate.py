"""The static gate: what can be said against a candidate without running anything.

It never accuses falsely: where something cannot be told for sure (a file that was broken before, star imports,
`globals()`), the sandbox decides.
"""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core.compose import region_text
from greenloop.core.diff import flat
from greenloop.core.encoding import declared, encodable
from greenloop.core.hardcoded import finding as by_heart
from greenloop.core.meaning import fingerprint as fingerprint  # noqa: PLC0414 - part of what the gate answers
from greenloop.core.meaning import same as same  # noqa: PLC0414
from greenloop.core.names import undefined
from greenloop.core.nouns import Candidate, Finding, Problem
from greenloop.core.reach import warnings as warnings  # noqa: PLC0414
from greenloop.core.repetition import REPETITION, repeated
from greenloop.core.signature import shape
from greenloop.core.source import compiled

UNCHANGED = "Unchanged"
UNDEFINED = "UndefinedName"
ENCODING = "EncodingError"


def check(
    problem: Problem, candidate: Candidate, files: Mapping[str, str], parent: Candidate | None = None
) -> Finding | None:
    """The first thing that speaks against the candidate, or None. `files` are its composed texts.

    Error classes: EncodingError, SyntaxError and its kinds, Repetition, RegionDeleted, SignatureChanged, Unchanged
    (equal to the user's code or to `parent`), UndefinedName, HardCoded. A finding's line counts in the composed file.
    """
    for path, text in files.items():
        if finding := _encoding(text) or _syntax(problem, path, text):
            return finding
    if finding := repetition(problem, candidate):
        return finding
    for region in candidate.texts:
        if finding := shape(problem, region, candidate, files):
            return finding
    if same(problem, candidate, None):
        return Finding(error_class=UNCHANGED, message="The answer repeats the user's code without a change.")
    if parent is not None and same(problem, candidate, parent):
        return Finding(error_class=UNCHANGED, message="The answer repeats the code it was asked to repair.")
    for path, text in files.items():
        if finding := _undefined(problem, path, text):
            return finding
    return by_heart(problem, candidate, files)


def _encoding(text: str) -> Finding | None:
    sentence = encodable(flat(text), declared(text))
    return Finding(error_class=ENCODING, message=sentence) if sentence else None


def _syntax(problem: Problem, path: str, text: str) -> Finding | None:
    error = compiled(flat(text))
    if error is None or compiled(flat(problem.files.get(path, ""))) is not None:
        return None  # a file that was broken before, or is written for a newer Python, is the sandbox's to judge
    lines = flat(text).split("\n")
    line = min(max(error.lineno or 1, 1), len(lines))
    message = f"{error.msg} in line {line}: {lines[line - 1].strip()[:120]}"
    return Finding(error_class=type(error).__name__, message=message, line=line)


def repetition(problem: Problem, candidate: Candidate) -> Finding | None:
    """What the answer repeats, unless the user's own code does."""
    beside = "\n\n".join(flat(text) for text in candidate.helpers)
    for text, own in [
        *((text, region_text(problem, region)) for region, text in candidate.texts.items()),
        (beside, ""),
    ]:
        if (sentence := repeated(text)) and not repeated(own):
            return Finding(error_class=REPETITION, message=sentence)
    return None


def _undefined(problem: Problem, path: str, text: str) -> Finding | None:
    known = undefined(problem.files.get(path, ""))
    found = {name: line for name, line in undefined(text).items() if name not in known}
    if not found:
        return None
    name, line = next(iter(found.items()))
    others = [f"`{other}`" for other in found if other != name]
    also = f" (nor {', '.join(others)})" if others else ""
    message = f"name `{name}` is not defined{also}; it is used in line {line}."
    return Finding(error_class=UNDEFINED, message=message, line=line)
