"""Reads the examples of a docstring: each `>>>` line is a case. Pure text work, nothing runs."""

from __future__ import annotations

import ast

from greenloop.core.documentation import read_examples
from greenloop.core.python.ast_source import region_definition
from greenloop.core.records.spec import Case, Provenance, Region, Spec, Target


def examples(target: Target | Region, text: str) -> Spec:
    """One case for each example, `path::qualname::doctest-N` with N from 1, at the example's line in the file."""
    node, offset = region_definition(text, target.start, target.end) or (None, 0)
    docstring = ast.get_docstring(node, clean=False) if node else None
    if node is None or docstring is None:
        return Spec()
    parsed = read_examples(docstring) or []
    full_name = f"{target.path}::{target.qualname}"
    cases = tuple(
        Case(
            id=f"{full_name}::doctest-{number}",
            path=target.path,
            line=offset + node.body[0].lineno + example.lineno,
            provenance=Provenance.DOCTEST,
            confirmed=True,
        )
        for number, example in enumerate(parsed, 1)
    )
    return Spec(cases=cases, selectors=(f"doctest:{full_name}",) if cases else ())
