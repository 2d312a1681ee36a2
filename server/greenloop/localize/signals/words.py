"""Words that the test shares with a function's name, docstring and the statements that ran.

Rare words count more (inverse document frequency: K. Spärck Jones, "A statistical interpretation of term specificity
and its application in retrieval", 1972), and words of the failing statement and of the test's name more than others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import Evidence
from greenloop.project.sources import is_trusted
from greenloop.project.syntax import definitions
from greenloop_sandbox import Failure

IN_STATEMENT, IN_NAME, IN_BODY, IN_MESSAGE = 1.0, 1.0, 0.4, 0.5  # what a word of each place counts
AS_NAME, AS_TEXT = 1.0, 0.3  # for a word of the function's name, and of its text
SHORTEST = 3  # letters
COMMON = frozenset(["test", "tests", "self", "assert", "equal", "none", "true", "false", "return", "def", "the", "and"])
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_LONGEST = 20_000  # characters of a function that are read
_STATEMENT_LINES = 10


def scores(evidence: Evidence) -> Mapping[Region, float]:
    """Returns for each function how much the tests speak of it, 0..1 in proportion to the one they speak of most."""
    asked: dict[str, float] = {}
    for case, failure in evidence.failing.items():
        for word, weight in _test_words(case, failure, evidence).items():
            asked[word] = max(weight, asked.get(word, 0.0))
    documents = {region: _function_words(region, evidence) for region in evidence.suspects}
    frequency = Counter(word for words in documents.values() for word in words)
    count = len(documents)
    found = {
        region: sum(
            asked[word] * weight * log(1 + count / frequency[word]) for word, weight in words.items() if word in asked
        )
        for region, words in documents.items()
    }
    most = max(found.values(), default=0.0)
    return {region: score / most for region, score in found.items()} if most else {}


def _test_words(case: str, failure: Failure | None, evidence: Evidence) -> dict[str, float]:
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


def _function_words(region: Region, evidence: Evidence) -> Mapping[str, float]:
    module = region.path.rpartition("/")[2].removesuffix(".py")
    found = dict.fromkeys(_words(_spoken(region, evidence)[:_LONGEST]), AS_TEXT)
    found.update(dict.fromkeys(_words(f"{module} {region.qualname}"), AS_NAME))
    return found


def _spoken(region: Region, evidence: Evidence) -> str:
    """The function's header, docstring and the statements that a failing case ran; all of it where none were traced."""
    text = evidence.text_of(region.path) or ""
    ran = sorted(evidence.ran.get(region, ()))
    if not ran:
        return definitions.line_span(text, region.start, region.end)
    header = definitions.line_span(text, region.start, ran[0] - 1) if ran[0] > region.start else ""
    rows = definitions.lines_of(text)
    return "".join([header, *(statement_at(rows, line) for line in ran)])


def _words(text: str) -> Iterable[str]:
    words = (word.lower() for word in _WORD.findall(text))
    return {word for word in words if len(word) >= SHORTEST and word not in COMMON}


def statement_at(rows: Sequence[str], line: int) -> str:
    """Returns the rows from this line, from 1, to where its brackets are closed."""
    statement = ""
    for row in rows[line - 1 : line - 1 + _STATEMENT_LINES]:
        statement += row
        if sum(statement.count(mark) for mark in "([{") <= sum(statement.count(mark) for mark in ")]}"):
            break
    return statement
