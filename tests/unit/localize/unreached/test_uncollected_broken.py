"""Why pytest ended before it collected any test."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.localize.unreached.uncollected import explain_broken_pytest, is_pytest_broken
from greenloop_sandbox import Execution

TRACEBACK = """============ test session starts ============
INTERNALERROR>   File "/usr/lib/python3.11/site-packages/_pytest/pathlib.py", line 640, in import_path
INTERNALERROR>     importlib.import_module(module_name)
INTERNALERROR>   File "/usr/lib/python3.11/importlib/__init__.py", line 126, in import_module
INTERNALERROR>   File "<frozen importlib._bootstrap>", line 1204, in _gcd_import
{}
mainloop: caught unexpected SystemExit!

============================= no tests ran in 0.02s =============================
"""
OWN = 'INTERNALERROR>   File "{}/src/m.py", line 3, in <module>\nINTERNALERROR>     sys.exit(1)\n'


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (
            TRACEBACK.format(OWN.format("/w") + "INTERNALERROR> SystemExit: 1"),
            "Importing src/m.py ends the process: SystemExit: 1 (src/m.py:3).",
        ),
        (
            TRACEBACK.format(OWN.format("/elsewhere") + "INTERNALERROR> SystemExit"),
            "Importing m.py ends the process: SystemExit (m.py:3).",
        ),
        (
            TRACEBACK.format("INTERNALERROR> ValueError: a plugin broke\nINTERNALERROR> "),
            "pytest stopped before any test ran: ValueError: a plugin broke",
        ),
        ("usage: pytest\n===== 1 warning =====\n", "pytest stopped before any test ran: usage: pytest"),
        ("", "pytest stopped before any test ran: no output"),
    ],
)
def test_what_is_told(output, told):
    error = explain_broken_pytest(output, Path("/w"), "python -m pytest")
    assert str(error).startswith(told)
    assert "__main__" in error.remedy if "ends the process" in told else error.remedy


COLLECTED = {"kind": "collected", "cases": [{"id": "a", "path": "a", "line": 1}]}


@pytest.mark.parametrize(
    ("records", "status", "broken"),
    [
        ([COLLECTED], 3, True),
        ([COLLECTED, {"kind": "phase", "id": "a", "when": "setup", "outcome": "passed"}], 3, False),
        ([COLLECTED], -11, False),
        ([], -11, True),
        ([{"kind": "finished"}], 5, False),
    ],
)
def test_it_is_broken_only_before_a_test_runs(records, status, broken):
    assert is_pytest_broken(Execution(records=tuple(records), status=status)) is broken
