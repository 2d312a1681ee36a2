"""Signals: each says by one kind of evidence how suspicious a function is, from 0 to 1."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log, sqrt

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import CoverageEvidence
from greenloop.project.sources import is_trusted
from greenloop.project.syntax import definitions
from greenloop_sandbox import Failure

Lines = Mapping[str, Collection[int]]
Suspicion = Mapping[str, Mapping[int, float]]
IN_STATEMENT, IN_NAME, IN_BODY, IN_MESSAGE = 1.0, 1.0, 0.4, 0.5  # what a word of each place counts
AS_NAME, AS_TEXT = 1.0, 0.3  # for a word of the function's name, and of its text
SHORTEST = 3  # letters
COMMON = frozenset(["test", "tests", "self", "assert", "equal", "none", "true", "false", "return", "def", "the", "and"])
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_LONGEST = 20_000  # characters of a function that are read
_STATEMENT_LINES = 10


def traceback(evidence: CoverageEvidence) -> Mapping[Region, float]:
    """Returns where the exception was raised: 1 for the function that raised, and less for each caller."""
    return {region: 1 / (1 + position) for region, position in evidence.frames.items()}


def touched(evidence: CoverageEvidence) -> Mapping[Region, float]:
    """Code with unsaved or uncommitted changes: 1 for the only such suspect; the less, the more of the suspects are."""
    count, touched = len(evidence.suspects), evidence.touched & {*evidence.suspects}
    if not touched:
        return {}
    score = log(1 + count / len(touched)) / log(1 + count)
    return dict.fromkeys(touched, score)


def spectrum(evidence: CoverageEvidence) -> Mapping[Region, float]:
    """Code that failing cases run and passing ones do not, by a function's worst statement, in proportion to the most.

    So one that every test enters looks no more innocent than the branch that only the failing test takes; by its calls
    where no statements were traced. In proportion, so that few failing cases against many passing ones,
    which make all coefficients small, do not leave the decision to the other signals.
    """
    lines = {case: trace.lines for case, trace in evidence.statements.items()}
    by_line = line_scores(lines, evidence.failing, evidence.passing)
    found: dict[Region, float] = {}
    for path, suspicion in by_line.items():
        for line, score in suspicion.items():
            region = evidence.region_of(path, line)
            if region is not None:
                found[region] = max(score, found.get(region, 0.0))
    found = {**_entry_scores(evidence), **found}
    most = max(found.values(), default=0.0)
    return {region: score / most for region, score in found.items()} if most else found


def _entry_scores(evidence: CoverageEvidence) -> Mapping[Region, float]:
    """Returns each function's suspicion by which cases entered it, 0..1."""
    found = {}
    for region in evidence.suspects:
        failed = sum(region in evidence.entered[case] for case in evidence.failing)
        passed = sum(region in evidence.entered[case] for case in evidence.passing)
        failed = failed or (1 if region in evidence.frames else 0)
        found[region] = ochiai(failed, passed, max(1, len(evidence.failing)))
    return found


def line_scores(traced: Mapping[str, Lines], failing: Collection[str], passing: Collection[str]) -> Suspicion:
    """Returns the suspicion of lines by path and line number; only lines that a failing case ran have one."""
    failing_lines = [traced[case] for case in failing if case in traced]
    passing_lines = [traced[case] for case in passing if case in traced]
    failed_by, passed_by = _counts(failing_lines), _counts(passing_lines)
    found: dict[str, dict[int, float]] = {}
    for (path, line), failed in sorted(failed_by.items()):
        passed = passed_by.get((path, line), 0)
        found.setdefault(path, {})[line] = ochiai(failed, passed, len(failing_lines))
    return found


def _counts(cases: Collection[Lines]) -> Mapping[tuple[str, int], int]:
    counts: dict[tuple[str, int], int] = {}
    for lines in cases:
        for path, ran in lines.items():
            for line in ran:
                counts[path, line] = counts.get((path, line), 0) + 1
    return counts


def ochiai(failed: int, passed: int, all_failing: int) -> float:
    """Returns 0..1 for a statement that this many failing and passing cases ran.

    A. Ochiai 1957, as used by Abreu, Zoeteweij and van Gemund, "On the Accuracy of Spectrum-based Fault Localization",
    2007.
    """
    return failed / sqrt(all_failing * (failed + passed)) if failed else 0.0


def words(evidence: CoverageEvidence) -> Mapping[Region, float]:
    """Words of the test in a function's name, docstring and statements that ran, in proportion to the most.

    Rare words count more (inverse document frequency: K. Spärck Jones, "A statistical interpretation of term
    specificity and its application in retrieval", 1972), and words of the failing statement and of the test's name more
    than others.
    """
    asked: dict[str, float] = {}
    for case, failure in evidence.failing.items():
        for word, weight in _test_words(case, failure, evidence).items():
            asked[word] = max(weight, asked.get(word, 0.0))
    documents = {region: _function_words(region, evidence) for region in evidence.suspects}
    frequency = Counter(word for weights in documents.values() for word in weights)
    count = len(documents)
    found = {
        region: sum(
            asked[word] * weight * log(1 + count / frequency[word]) for word, weight in weights.items() if word in asked
        )
        for region, weights in documents.items()
    }
    most = max(found.values(), default=0.0)
    return {region: score / most for region, score in found.items()} if most else {}


def _test_words(case: str, failure: Failure | None, evidence: CoverageEvidence) -> dict[str, float]:
    found: dict[str, float] = {}
    name = case.rpartition("::")[2]
    parts = [(name, IN_NAME)]
    if failure is not None:
        parts += [(failure.message[:1000], IN_MESSAGE)]
        frame = next((item for item in failure.frames if is_trusted(item.path, evidence.patterns)), None)
        text = evidence.text_of(frame.path) if frame is not None else None
        if frame is not None and text is not None:
            test = definitions.enclosing_definition(text, frame.line, frame.path)
            body = definitions.line_span(text, test.start, test.end) if test else ""
            parts += [(statement_at(definitions.lines_of(text), frame.line), IN_STATEMENT), (body[:_LONGEST], IN_BODY)]
    for part, weight in parts:
        for word in _words(part):
            found[word] = max(weight, found.get(word, 0.0))
    return found


def _function_words(region: Region, evidence: CoverageEvidence) -> Mapping[str, float]:
    module = region.path.rpartition("/")[2].removesuffix(".py")
    found = dict.fromkeys(_words(_spoken(region, evidence)[:_LONGEST]), AS_TEXT)
    found.update(dict.fromkeys(_words(f"{module} {region.qualname}"), AS_NAME))
    return found


def _spoken(region: Region, evidence: CoverageEvidence) -> str:
    """The function's header, docstring and the statements that a failing case ran; all of it where none were traced."""
    text = evidence.text_of(region.path) or ""
    ran = sorted(evidence.ran.get(region, ()))
    if not ran:
        return definitions.line_span(text, region.start, region.end)
    header = definitions.line_span(text, region.start, ran[0] - 1) if ran[0] > region.start else ""
    rows = definitions.lines_of(text)
    return "".join([header, *(statement_at(rows, line) for line in ran)])


def _words(text: str) -> Iterable[str]:
    found = (word.lower() for word in _WORD.findall(text))
    return {word for word in found if len(word) >= SHORTEST and word not in COMMON}


def statement_at(rows: Sequence[str], line: int) -> str:
    """Returns the rows from this line, from 1, to where its brackets are closed."""
    statement = ""
    for row in rows[line - 1 : line - 1 + _STATEMENT_LINES]:
        statement += row
        if sum(statement.count(mark) for mark in "([{") <= sum(statement.count(mark) for mark in ")]}"):
            break
    return statement
