"""Finds examples in docstrings and comments other than `>>>` lines; each equation is a case (`core/documentation.py`).

Nothing runs and no model is asked; `statements.py` finds only those that are unambiguous. A case has the line of its
equation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from greenloop.core.documentation import read_documentation
from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.records.spec import Provenance, Region, Spec, Target
from greenloop.plugins.function_calls.literals import EXCEPTIONS
from greenloop.plugins.stated_examples.statements import DocstringStatements, read_statements
from greenloop.project.syntax import definitions

KIND = "examples"
_PYTEST = "import pytest"
_CODE = re.compile(r"[#\s]*(?:assert|with)\b")
_EXCEPTION = re.compile(r"(?:Error|Exception|Warning)$")


def build_spec(region: Region, text: str, module: str) -> Spec:
    """The spec in the text of a file, which is imported as `module`. Pure."""
    statements = _read(region, text)
    if statements.contradiction:
        return Spec(doubts=(statements.contradiction,))
    own_exceptions = sorted(_exception_classes(text, region.path))
    checks = []
    for line, one in statements.checks:
        used_exceptions = [name for name in own_exceptions if re.search(rf"\b{name}\b", one.body)]
        # Two tests may use one name for different things, so each has its own imports.
        imports = [f"from {module} import {name}" for name in used_exceptions]
        imports += [each for each in one.imports if each != _PYTEST]
        checks.append(
            Check(
                body="\n".join([*imports, one.body]),
                line=line,
                provenance=Provenance.EXAMPLE,
                shown=one.shown,
                imports=(_PYTEST,) if _PYTEST in one.imports else (),
            )
        )
    return build_test_file(region, module, KIND, checks) + Spec(doubts=statements.doubts)


def contradiction(region: Region | Target, text: str) -> str:
    """A sentence where two examples about a region or target of a file's text contradict each other, else empty."""
    return _read(region, text).contradiction


def stating_lines(region: Region, text: str) -> Iterator[str]:
    """The lines of a file's text that state an example; an example of several lines as code."""
    documented = read_documentation(text, region.start, region.end)
    docstring_lines = documented.blocks[0].lines if documented.docstring is not None else ()
    rows = definitions.split_lines(text)
    for line, check in read_statements(documented, region.qualname).checks:
        row = rows[line - 1].strip()
        row = row if line in docstring_lines else row[max(row.find("#"), 0) :]
        yield check.body if _CODE.match(row) and "\n" in check.body else row


def _read(region: Region | Target, text: str) -> DocstringStatements:
    documentation = read_documentation(text, region.start, region.end)
    return read_statements(documentation, region.qualname, _exception_classes(text, region.path))


def _exception_classes(text: str, path: str) -> frozenset[str]:
    """The exception classes that the module defines, recognised by their bases or names."""
    names: set[str] = set()
    for item in definitions.find_definitions(text, path):
        bases = {base.rpartition(".")[2] for base in item.bases}
        if item.kind == "class" and (_EXCEPTION.search(item.name) or bases & (EXCEPTIONS | names)):
            names.add(item.name)
    return frozenset(names)
