"""The static gate: rejects candidates without running them.

It has no false positives by design: where a check cannot be certain (a file that was broken before, star imports,
`globals()`), the sandbox decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from greenloop.core.compose import compose, region_text
from greenloop.core.fingerprint import is_same_code
from greenloop.core.python.ast_source import compile_error
from greenloop.core.python.names import undefined_names
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.attempt import Candidate, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.text.encoding import declared_encoding, why_not_encodable
from greenloop.drafting.candidates.checks import hardcoding
from greenloop.drafting.candidates.checks.repetition import REPETITION, describe_repetition
from greenloop.drafting.candidates.checks.signature import check_signature

UNCHANGED = "Unchanged"
UNDEFINED = "UndefinedName"
ENCODING = "EncodingError"
SILENCED = "Silenced"


def check(
    problem: Problem, candidate: Candidate, files: Mapping[str, str], parent: Candidate | None = None
) -> Finding | None:
    """The first reason to reject a candidate, or None. `files` are its composed texts.

    Error classes: EncodingError, SyntaxError and its kinds, Repetition, RegionDeleted, SignatureChanged, Unchanged
    (equal to the user's code or to `parent`), UndefinedName, HardCoded. A finding's line counts in the composed file.
    """
    files = {path: text for path, text in files.items() if path.endswith(".py")}
    for path, text in files.items():
        if finding := _encoding_error(text) or _syntax_error(problem, path, text):
            return finding
    if finding := find_repetition(problem, candidate):
        return finding
    for region in candidate.texts:
        if finding := check_signature(problem, region, candidate, files):
            return finding
    if finding := _find_refusal(problem, files):
        return finding
    if is_same_code(problem, candidate, None):
        return Finding(error_class=UNCHANGED, message="The answer repeats the user's code without a change.")
    if parent is not None and is_same_code(problem, candidate, parent):
        return Finding(error_class=UNCHANGED, message="The answer repeats the code it was asked to repair.")
    for path, text in files.items():
        if finding := _undefined_name(problem, path, text):
            return finding
    return hardcoding.find_hard_coding(problem, candidate, files)


def check_edit(problem: Problem, candidate: Candidate, files: Mapping[str, str]) -> Finding | None:
    """As `check`, for a candidate that may change whatever it wants: signatures, other functions, any file."""
    python = {path: text for path, text in files.items() if path.endswith(".py")}
    for path, text in python.items():
        if finding := _encoding_error(text) or _syntax_error(problem, path, text):
            return replace(finding, message=f"{path}: {finding.message}")
    if finding := _find_refusal(problem, files):
        return finding
    if is_same_code(problem, candidate, None):
        return Finding(error_class=UNCHANGED, message="The answer changes nothing.")
    for path, text in python.items():
        if finding := _undefined_name(problem, path, text):
            return replace(finding, message=f"{path}: {finding.message}")
    return hardcoding.find_hard_coding(problem, candidate, files)


def _find_refusal(problem: Problem, files: Mapping[str, str]) -> Finding | None:
    """A finding where the target itself says that the change is no honest solution."""
    sentence = problem.why_refused(problem.originals, files) if problem.why_refused else ""
    return Finding(error_class=SILENCED, message=sentence) if sentence else None


def without_faulty_functions(problem: Problem, candidate: Candidate) -> Candidate | None:
    """The candidate without the functions for which it is rejected; None where it keeps none, or would undo one.

    What an answer about several unwritten functions has of the others counts; these stay unwritten.
    """
    faulty = set()
    for region, text in candidate.texts.items():
        alone = replace(candidate, texts={region: text})
        if check(problem, alone, compose(problem, alone)):
            faulty.add(region)
    if not faulty or not all(region.created or is_unwritten(region_text(problem, region)) for region in faulty):
        return None
    kept = replace(candidate, texts={each: text for each, text in candidate.texts.items() if each not in faulty})
    return kept if kept.texts and not check(problem, kept, compose(problem, kept)) else None


def _encoding_error(text: str) -> Finding | None:
    sentence = why_not_encodable(with_plain_ends(text), declared_encoding(text))
    return Finding(error_class=ENCODING, message=sentence) if sentence else None


def _syntax_error(problem: Problem, path: str, text: str) -> Finding | None:
    error = compile_error(with_plain_ends(text))
    if error is None or compile_error(with_plain_ends(problem.files.get(path, ""))) is not None:
        return None  # broken before, or written for a newer Python: the sandbox decides
    lines = with_plain_ends(text).split("\n")
    line = min(max(error.lineno or 1, 1), len(lines))
    message = f"{error.msg} in line {line}: {lines[line - 1].strip()[:120]}"
    return Finding(error_class=type(error).__name__, message=message, line=line)


def find_repetition(problem: Problem, candidate: Candidate) -> Finding | None:
    """A repetition in the candidate, unless the user's own code has it too."""
    helpers = "\n\n".join(with_plain_ends(text) for text in candidate.helpers)
    for text, original in [
        *((text, region_text(problem, region)) for region, text in candidate.texts.items()),
        (helpers, ""),
    ]:
        if (sentence := describe_repetition(text)) and not describe_repetition(original):
            return Finding(error_class=REPETITION, message=sentence)
    return None


def _undefined_name(problem: Problem, path: str, text: str) -> Finding | None:
    undefined_before = undefined_names(problem.files.get(path, ""))
    newly_undefined = {name: line for name, line in undefined_names(text).items() if name not in undefined_before}
    if not newly_undefined:
        return None
    name, line = next(iter(newly_undefined.items()))
    others = [f"`{other}`" for other in newly_undefined if other != name]
    more = f" (nor {', '.join(others)})" if others else ""
    message = f"name `{name}` is not defined{more}; it is used in line {line}."
    return Finding(error_class=UNDEFINED, message=message, line=line)
