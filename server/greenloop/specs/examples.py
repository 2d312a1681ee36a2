"""Finds examples in docstrings and comments other than `>>>` lines; each equation is a case.

Nothing runs and no model is asked; `core.docstrings.statements` finds only those that are unambiguous. A case has the
line of its equation.
"""

from __future__ import annotations

import re

from greenloop.core.docstrings.documentation import read_documentation
from greenloop.core.docstrings.literals import EXCEPTIONS
from greenloop.core.docstrings.statements import DocstringStatements, read_statements
from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.records.spec import Provenance, Region, Spec, Target
from greenloop.project.syntax import definitions

KIND = "examples"
_PYTEST = "import pytest"
_EXCEPTION = re.compile(r"(?:Error|Exception|Warning)$")


def build_spec(region: Region, text: str, module: str) -> Spec:
    """The spec in the text of a file, which is imported as `module`. Pure."""
    statements = region_statements(region, text)
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


def region_statements(region: Region | Target, text: str) -> DocstringStatements:
    """The statements about a region or target of a file's text, and a contradiction among them, if any."""
    return read_statements(
        read_documentation(text, region.start, region.end), region.qualname, _exception_classes(text, region.path)
    )


def _exception_classes(text: str, path: str) -> frozenset[str]:
    """The exception classes that the module defines, recognised by their bases or names."""
    names: set[str] = set()
    for item in definitions.find_definitions(text, path):
        bases = {base.rpartition(".")[2] for base in item.bases}
        if item.kind == "class" and (_EXCEPTION.search(item.name) or bases & (EXCEPTIONS | names)):
            names.add(item.name)
    return frozenset(names)
