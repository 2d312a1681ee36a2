"""What the check that runs in the sandbox reads of a checker's report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from greenloop.plugins.types import type_check

MYPY = """\
src/a.py:3: error: Incompatible types in assignment  [assignment]
src/a.py:4:9: error: Name "x" is not defined  [name-defined]
src/a.py:5: note: Revealed type is "int"
src/a.py: note: In function "f":
"""


def test_errors_of_mypy():
    assert type_check._of_mypy(MYPY) == [
        ("src/a.py", 3, "Incompatible types in assignment  [assignment]"),
        ("src/a.py", 4, 'Name "x" is not defined  [name-defined]'),
    ]


def test_errors_of_pyright():
    where = {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 1}}
    row = {
        "file": str(Path.cwd() / "a.py"),
        "range": where,
        "severity": "error",
        "message": 'Type "int"\n  is not "str"',
    }
    rows = [{**row, "rule": "reportReturnType"}, {**row, "severity": "warning"}]
    found = type_check._of_pyright(json.dumps({"generalDiagnostics": rows}))
    assert found == [("a.py", 3, 'Type "int"   is not "str" [reportReturnType]')]


@pytest.mark.parametrize("output", ["", "no JSON", "{}"])
def test_a_report_that_is_none(output):
    with pytest.raises(type_check.TypeCheckerFailed, match="gave no report"):
        type_check._of_pyright(output)
