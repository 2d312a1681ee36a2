"""pytest, which runs unittest classes and doctest examples too: what to ask it for and how to read it."""

from __future__ import annotations

from greenloop.core.nouns import CaseResult, Execution, Spec
from greenloop.core.records import results


def cases(spec: Spec) -> tuple[str, ...]:
    """The selectors that run every case of the spec."""
    return spec.selectors


def parse(execution: Execution) -> tuple[CaseResult, ...]:
    """One result for each case that began."""
    return results(execution)
