"""Which functions the failing test calls by name: in the statement that fails, or anywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import Evidence
from greenloop.localize.signals.words import failing_statement
from greenloop.project.sources import is_trusted
from greenloop.project.syntax import definitions
from greenloop_sandbox import Failure

IN_TEST = 0.5  # for a name that the test has, but not its failing statement
_NAME = re.compile(r"[^\W\d]\w*")


def scores(evidence: Evidence) -> Mapping[Region, float]:
    """Returns 1 for functions that a failing statement names, `IN_TEST` for others that its test names."""
    found: dict[Region, float] = {}
    for failure in evidence.failing.values():
        statement, body = _names(failure, evidence) if failure else (set(), set())
        for region in evidence.suspects:
            name = region.qualname.rpartition(".")[2]
            score = 1.0 if name in statement else IN_TEST if name in body else 0.0
            found[region] = max(score, found.get(region, 0.0))
    return found


def _names(failure: Failure, evidence: Evidence) -> tuple[set[str], set[str]]:
    """Returns the names in the test's failing statement, and those in the whole test."""
    frame = next((item for item in reversed(failure.frames) if is_trusted(item.path, evidence.patterns)), None)
    text = evidence.text_of(frame.path) if frame is not None else None
    if frame is None or text is None:
        return set(), set()
    test = definitions.enclosing_definition(text, frame.line, frame.path)
    body = definitions.line_span(text, test.start, test.end) if test else ""
    return set(_NAME.findall(failing_statement(text, frame.line))), set(_NAME.findall(body))
