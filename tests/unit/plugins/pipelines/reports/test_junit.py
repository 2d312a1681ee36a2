"""JUnit of fixes; that of a verification is tested with its command."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from fake_engine import CASE, solved, unsolved
from greenloop.core.errors import CannotVerifyError
from greenloop.plugins.pipelines.reports import junit
from greenloop.plugins.pipelines.reports.of_fixes import Fix


def test_junit_has_a_case_for_each_target(tmp_path):
    fixes = [
        Fix(target=CASE, outcome=solved(tmp_path)),
        Fix(target="test_m.py::test_b", outcome=unsolved()),
        Fix(target="test_m.py::test_c", error=CannotVerifyError("No.")),
    ]
    suite = ET.fromstring(junit.fixes_document(fixes))[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    assert [case.get("name") for case in suite if len(case)] == ["test_b", "test_c"]
