"""Classifies failures: error class, group, a signature that identifies repeated ones, and named functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from greenloop.core.records.attempt import Attempt, Finding
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop_sandbox import CaseResult, Failure, Frame

_SYNTAX = {"SyntaxError", "IndentationError", "TabError"}
_LOGIC = {
    "AssertionError", "Failed", "DocTestFailure", "MultipleFailures", "ComparisonFailure", "FalsifyingExample",
    "Constraint", "Different", "NotFaster", "NotSmaller", "Rejected",
}  # fmt: skip
_GROUPS = {
    **dict.fromkeys(_SYNTAX, ErrorGroup.SYNTAX),
    **dict.fromkeys(_LOGIC, ErrorGroup.LOGIC),
    **dict.fromkeys(("MemoryError", "OutputFlood", "BlockingIOError"), ErrorGroup.RESOURCE),
    **dict.fromkeys(("Timeout", "TimeoutExpired"), ErrorGroup.TIMEOUT),
}
_STATUS = {
    Status.TIMEOUT: ("Timeout", ErrorGroup.TIMEOUT),
    Status.TAMPERED: ("Tampered", ErrorGroup.TAMPERING),
    Status.ENVIRONMENT: ("Environment", ErrorGroup.ENVIRONMENT),
    Status.REFUSED: ("Refused", ErrorGroup.ANSWER),
}
_FINDINGS = {"UndefinedName": ErrorGroup.RUNTIME, "EncodingError": ErrorGroup.SYNTAX}
# The most telling group first.
_ORDER = [ErrorGroup.SYNTAX, ErrorGroup.RESOURCE, ErrorGroup.RUNTIME, ErrorGroup.TIMEOUT, ErrorGroup.LOGIC]

_NOISE = [
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "0x"),
    (re.compile(r"/(?:tmp|var/folders|dev/shm)(?:/[\w.+-]+)+"), "TMP"),
    (re.compile(r"\bpytest-of-\w+/pytest-\d+"), "TMP"),
    (re.compile(r"\b\d+\.\d+ ?(?:s|ms|seconds)\b"), "TIME"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\bline \d+\b"), "line"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?"), "DATE"),
    (re.compile(r"\s+"), " "),
]
_CALLED = re.compile(r"(?:^|: )([\w.<>]+)\(\) (?:takes|missing|got)\b")
_SHOWN = re.compile(r"<(?:bound method|function|coroutine object|generator object|async_generator object) ([\w.<>]+) ")


def classify(verdict: Verdict) -> tuple[str, ErrorGroup | None]:
    """Error class and group of the most telling failing case; ("", None) for a verdict without failure."""
    if verdict.status in _STATUS:
        return _STATUS[verdict.status]
    case = _most_telling_case(verdict)
    if case is not None and case.failure is not None:
        return _name(case.failure), _group(case.failure)
    if verdict.status is Status.CRASHED:
        hit_limit = re.search(r"memory|output|disk|processes|oom", verdict.reason, re.IGNORECASE)
        return "Crashed", ErrorGroup.RESOURCE if hit_limit else ErrorGroup.RUNTIME
    if verdict.status is Status.NOT_COLLECTED:
        return "NotCollected", ErrorGroup.RUNTIME
    if case is not None:
        return (case.outcome.capitalize() or "Failed"), ErrorGroup.LOGIC
    return "", None


def failure_signature(verdict: Verdict) -> str:
    """A text that is equal for equal failures: type, function, expected and observed, without run-specific parts."""
    rows = [f"{verdict.status}"]
    if verdict.status in (Status.CRASHED, Status.TAMPERED, Status.ENVIRONMENT, Status.NOT_COLLECTED):
        rows.append(_without_noise(verdict.reason))
    for case in verdict.failing:
        failure = case.failure
        if failure is None:
            rows.append(f"{case.id} {case.outcome}")
            continue
        frame = next(filter(is_of_workspace, reversed(failure.frames)), None)
        location = f"{frame.path}:{frame.function}" if frame else ""
        has_values = failure.expected is not None or failure.observed is not None
        difference = f"expected {failure.expected} observed {failure.observed}" if has_values else failure.message
        rows.append(f"{case.id} {_name(failure)} {location} {_without_noise(difference)[:300]}".rstrip())
    return "\n".join(rows)


def failure_key(attempt: Attempt) -> str:
    """A text that is equal for attempts that failed alike; rejected ones differ by their error class only."""
    return attempt.error_class if attempt.finding else failure_signature(attempt.verdict)


def finding_group(finding: Finding) -> ErrorGroup:
    """The error group of a candidate that was rejected before the sandbox."""
    if finding.error_class in _SYNTAX:
        return ErrorGroup.SYNTAX
    return _FINDINGS.get(finding.error_class, ErrorGroup.ANSWER)


def _most_telling_case(verdict: Verdict) -> CaseResult | None:
    """The failing target case (else neighbour) whose group comes first in the order; the earliest of equals."""
    failing_targets = [case for case in verdict.cases if not case.passed]
    failing = failing_targets or [case for case in verdict.collateral if not case.passed]
    with_failure = [case for case in failing if case.failure]
    if not with_failure:
        return failing[0] if failing else None
    return min(with_failure, key=lambda case: _ORDER.index(_group(case.failure)) if case.failure else len(_ORDER))


def _name(failure: Failure) -> str:
    name = failure.type.rsplit(".", 1)[-1].strip() or "Failed"
    if name == "UnexpectedException":  # doctest wraps the exception of the example
        inner = re.search(r"\b([A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning))\b", failure.message)
        return inner[1] if inner else name
    if name == "Failed" and failure.message.lstrip().startswith("Timeout"):
        return "Timeout"
    return name


def _group(failure: Failure) -> ErrorGroup:
    return _GROUPS.get(_name(failure), ErrorGroup.RUNTIME)


def is_of_workspace(frame: Frame) -> bool:
    """True if a frame is of the project's own files: a package of an environment in the workspace is not."""
    is_inside = not frame.path.startswith(("/", "<")) and ":" not in frame.path
    return is_inside and not {"site-packages", "dist-packages"}.intersection(frame.path.split("/"))


def _without_noise(text: str) -> str:
    for pattern, word in _NOISE:
        text = pattern.sub(word, text)
    return text.strip()


def named_functions(failures: Iterable[Failure | None]) -> list[str]:
    """The qualified names of functions that the failures name as ones that they could not call, or did not."""
    return list(dict.fromkeys(name for failure in failures if failure for name in _names(failure)))


def _names(failure: Failure) -> Iterator[str]:
    if failure.type == "TypeError" and (match := _CALLED.search(failure.message)):
        yield match[1]
    # Only the first line: those below it show the functions that did run, and those that were given to them.
    for text in (failure.observed or "", failure.message.partition("\n")[0]):
        yield from _SHOWN.findall(text)
