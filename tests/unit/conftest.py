"""`problem(text, name, ...)`: a problem whose regions are the named definitions of one module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from greenloop.core.python.ast_source import definitions, piece, start_of
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec


def build(text, *names, created=False, path="m.py", tests="", span=None):
    found = piece(text)
    regions = []
    for name in names:
        if span:
            start, end = span
        else:
            node = [node for qualname, node in definitions(found.body) if qualname == name][-1]
            start, end = start_of(node, found.lines), node.end_lineno
        regions.append(Region(path=path, qualname=name, start=start, end=end, created=created))
    originals = {path: None if created else text} | ({"test_m.py": tests} if tests else {})
    cases = (Case(id="test_m.py::test", path="test_m.py", line=1),) if tests else ()
    return Problem(
        root=Path("/project"),
        spec=Spec(cases=cases, selectors=tuple(case.id for case in cases)),
        regions=tuple(regions),
        originals=originals,
        files={path: text},
    )


@pytest.fixture
def problem():
    return build


@pytest.fixture
def parses():
    return lambda text: ast.parse(text.replace("\r\n", "\n"))
