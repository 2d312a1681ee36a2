"""`greenloop verify`: its words, its exit codes, what programs and people read, and the JUnit file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fake_verification import answer
from greenloop.cli.main import main
from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.engine.verify.report import Tampering, Verification
from greenloop.engine.verify.report_json import result_json
from greenloop.plugins.pipelines.reports import junit
from greenloop_sandbox import CaseResult, Failure

__all__ = ["answer"]

A, B, C = "tests/test_m.py::test_a[x<&>\x1b]", "tests/test_m.py::TestK::test_b", "tests/test_n.py::test_c"
GOOD = Verification(
    verified=True,
    base="a" * 40,
    revision="HEAD",
    cases=(CaseResult(id=A, outcome="passed", seconds=0.25), CaseResult(id=B, outcome="skipped")),
    before={A: "failed", B: "skipped"},
    fixed=(A,),
    apart=(A,),
    sandbox="bubblewrap",
    seconds=1.5,
)
RED = Verification(
    reason="1 test(s) that must pass do not.",
    base="a" * 40,
    revision="HEAD",
    cases=(
        CaseResult(id=A, outcome="passed"),
        CaseResult(
            id=C, outcome="failed", failure=Failure(type="AssertionError", message="]]> \x00 1 != 2\nmore", text="t")
        ),
    ),
    failed=(C,),
    changed=("tests/test_m.py",),
    removed=("tests/test_a.py",),
    added=("conftest.py",),
    network=True,
    sandbox="bubblewrap",
)
FAKED = Verification(reason=f"{C} was reported twice.", tampered=(Tampering(case=C, reason="r"),), cases=RED.cases)
ENDED = Verification(
    reason="It ended itself.", tampered=(Tampering(case="", reason="It ended itself."),), cases=GOOD.cases
)


@pytest.mark.parametrize(("result", "code"), [(GOOD, 0), (RED, 1), (FAKED, 1), (ENDED, 1)])
def test_only_an_honest_pass_is_0(answer, result, code, capsys):
    answer(result)
    assert main(["verify"]) == code
    out, err = capsys.readouterr()
    assert "running" in err
    assert "running" not in out
    assert out.startswith("Verified in " if code == 0 else "Tampered: " if result.tampered else "Not verified: ")


@pytest.mark.parametrize(
    ("error", "code"), [(CannotVerifyError("No git.", remedy="Get it."), 3), (UsageError("No."), 2)]
)
def test_what_cannot_be_verified_is_one_object_too(answer, error, code, capsys):
    answer(error)
    assert main(["verify", "--json"]) == code
    out, err = capsys.readouterr()
    value = json.loads(out)
    assert (value["verified"], value["reason"], value["remedy"]) == (False, str(error), error.remedy)
    assert value["cases"] == value["tampered"] == value["changed_tests"] == []
    assert str(error) in err


def test_the_words_become_a_request(answer, project):
    asked = answer(GOOD)
    words = ["tests/test_m.py::test_a", "test_m.py", "--base", "main", "--keep", "a*", "--seconds", "5"]
    words += ["--allow-test-change", "tests", "--because", "new rules", "--require", "apart"]
    assert main(["verify", *words, "--sandbox", "docker"]) == 0
    request, settings = asked[0]
    assert request.root == project
    assert request.targets == ("tests/test_m.py::test_a", "test_m.py")
    assert (request.revision, request.keep, request.seconds) == ("main", ("a*",), 5.0)
    assert (request.allow, request.because, request.require) == (("tests",), "new rules", "apart")
    assert settings.sandbox.kind == "docker"
    assert settings.seconds != 5.0


@pytest.mark.parametrize(
    "words", [["--seconds", "0"], ["--seconds", "-1"], ["--junit", "no/such/folder/x.xml"], ["--junit", "."]]
)
def test_bad_words_run_nothing(answer, words, capsys):
    asked = answer(GOOD)
    assert main(["verify", *words]) == 2
    assert asked == []


def test_a_link_is_no_place_for_a_report(answer, project, tmp_path):
    (tmp_path / "elsewhere").write_text("kept")
    (project / "report.xml").symlink_to(tmp_path / "elsewhere")
    answer(GOOD)
    assert main(["verify", "--junit", "report.xml"]) == 2
    assert (tmp_path / "elsewhere").read_text() == "kept"


# -- for programs and people ----------------------------------------------------------------------------------------


def test_the_object_for_programs(answer, capsys):
    answer(RED)
    main(["verify", "--json"])
    value = json.loads(capsys.readouterr().out)
    assert value["changed_tests"] == [
        {"path": "tests/test_a.py", "change": "removed"},
        {"path": "tests/test_m.py", "change": "changed"},
    ]
    assert value["added_tests"] == ["conftest.py"]
    assert value["failed"] == [C]
    assert value["cases"][1] == {
        "id": C,
        "outcome": "failed",
        "before": None,
        "seconds": 0.0,
        "type": "AssertionError",
        "message": "]]> \x00 1 != 2\nmore",
    }
    assert value["network"] is True


@pytest.mark.parametrize(
    ("result", "counts"),
    [
        (GOOD, {"tests": 2, "failures": 0, "errors": 0, "skipped": 1}),
        (RED, {"tests": 2, "failures": 1, "errors": 0, "skipped": 0}),
        (FAKED, {"tests": 2, "failures": 1, "errors": 0, "skipped": 0}),
        (ENDED, {"tests": 3, "failures": 1, "errors": 0, "skipped": 1}),
        (Verification(reason="No code."), {"tests": 1, "failures": 1, "errors": 0, "skipped": 0}),
    ],
)
def test_junit_files_are_whole_and_count_right(result, counts):
    suite = ET.fromstring(junit.document(result))[0]
    assert {name: int(suite.get(name)) for name in counts} == counts
    assert len(suite.findall("testcase")) == counts["tests"]
    assert len(suite.findall(".//failure")) == counts["failures"]
    properties = {each.get("name"): each.get("value") for each in suite.iter("property")}
    assert properties["verified"] == str(result.verified).lower()


def test_a_tampered_case_is_a_failure_of_its_own_kind(tmp_path):
    suite = ET.fromstring(junit.document(FAKED))[0]
    assert [each.get("type") for each in suite.iter("failure")] == ["tampered"]


def test_the_page_names_every_field_and_flag():
    page = (Path(__file__).parents[3] / "docs/verify.md").read_text()
    rows = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]
    told = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert told == {*result_json(GOOD), "remedy", "written"}
    for flag in (
        "--apply",
        "--base",
        "--json",
        "--junit",
        "--report",
        "--staged",
        "--seconds",
        "--keep",
        "--allow-test-change",
        "--because",
        "--require",
        "--known-failing",
    ):
        assert flag in page
