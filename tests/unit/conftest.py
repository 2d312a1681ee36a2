"""`problem(text, name, ...)`: a problem whose regions are the named definitions of one module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from greenloop.core.python.ast_source import find_definitions, parse_fragment, start_line
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec


def build(text, *names, created=False, path="m.py", tests="", span=None):
    found = parse_fragment(text)
    regions = []
    for name in names:
        if span:
            start, end = span
        else:
            node = [node for qualname, node in find_definitions(found.body) if qualname == name][-1]
            start, end = start_line(node, found.lines), node.end_lineno
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
