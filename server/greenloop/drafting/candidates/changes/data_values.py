"""Changes of data files: the expected value of a failed assertion in place of the observed one.

It must not know how a value was found in a file.
"""

from __future__ import annotations

from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region


def corrected_data(problem: Problem) -> list[Candidate]:
    """Returns a candidate for each data file in which one line has the observed value."""
    return [
        Candidate(texts={Region(path=each.path, qualname="", start=each.line, end=each.line): each.corrected})
        for each in problem.data
        if each.line
    ]
