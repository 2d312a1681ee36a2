"""The user's own tests, as pytest collects them over the user's own code."""

from __future__ import annotations

from greenloop.core.records.spec import Case, Provenance, Spec, Target
from greenloop_sandbox import Execution, collected_cases


def read_spec(execution: Execution, target: Target) -> Spec:
    """The spec that a collecting execution reported. Pure."""
    cases = tuple(
        Case(id=item.id, path=item.path, line=item.line, provenance=Provenance.USER, confirmed=True)
        for item in collected_cases(execution)
    )
    return Spec(cases=cases, selectors=(target.selector,) if cases else ())
