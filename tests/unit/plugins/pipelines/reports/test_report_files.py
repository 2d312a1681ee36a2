"""`--report`: its words, where the reports go, and that they are always written."""

from __future__ import annotations

import asyncio
import json
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from fake_engine import CASE, fake, project, unsolved
from fake_verification import answer
from greenloop.cli.main import main
from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.outcome import StopReason
from greenloop.engine.verify.report import Verification
from greenloop.plugins.pipelines.reports.report_files import repository_prefix
from greenloop_sandbox import CaseResult
from sarif_schema import SARIF_SCHEMA

__all__ = ["answer", "fake", "project"]

RED = Verification(reason="1 fails.", cases=(CaseResult(id=CASE, outcome="failed"),), failed=(CASE,))


@pytest.mark.parametrize(
    "word", ["", "xml=a", "sarif", "sarif=", "junit", "github=a", "sarif=no/such/a", "junit=sub", "SARIF=a"]
)
@pytest.mark.parametrize("verb", ["verify", "fix"])
def test_bad_words_run_nothing(fake, capsys, word, verb):
    assert main([verb, CASE, "--report", word]) == 2
    assert fake.requests == []
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_every_report_of_a_verification(answer, project, capsys):
    answer(RED)
    words = ["--report", "sarif=a.sarif", "--report", "junit=a.xml", "--junit", "b.xml", "--report", "github"]
    assert main(["verify", *words]) == 1
    value = json.loads((project / "a.sarif").read_text())
    jsonschema.validate(value, SARIF_SCHEMA)
    assert [each["ruleId"] for each in value["runs"][0]["results"]] == ["test-failed"]
    assert value["runs"][0]["properties"]["state"] == "failing"
    assert (project / "a.xml").read_bytes() == (project / "b.xml").read_bytes()
    commands = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert commands == [f"::error title=greenloop test-failed,file=test_m.py,line=4,endLine=4::{CASE}: failed"]


def test_with_json_the_annotations_go_to_standard_error(answer, capsys):
    answer(RED)
    main(["verify", "--json", "--report", "github"])
    out, err = capsys.readouterr()
    assert json.loads(out)["failed"] == [CASE]
    assert "::error " in err


def test_what_cannot_be_verified_replaces_an_old_report(answer, project):
    (project / "a.sarif").write_text("old")
    (project / "a.xml").write_text("old")
    answer(CannotVerifyError("No sandbox.", remedy="Install one."))
    assert main(["verify", "--report", "sarif=a.sarif", "--report", "junit=a.xml"]) == 3
    (result,) = json.loads((project / "a.sarif").read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["message"]["text"]) == ("not-verified", "No sandbox. Install one.")
    assert len(ET.parse(project / "a.xml").findall(".//failure")) == 1


def test_every_report_of_a_fix(fake, project, capsys):
    assert main(["fix", CASE, "--report", "sarif=a.sarif", "--report", "junit=a.xml", "--report", "github"]) == 0
    value = json.loads((project / "a.sarif").read_text())
    jsonschema.validate(value, SARIF_SCHEMA)
    assert [each["ruleId"] for each in value["runs"][0]["results"]] == ["fixed", "attempt-failed"]
    assert "fixes" in value["runs"][0]["results"][0]
    assert ET.parse(project / "a.xml").getroot()[0].get("tests") == "1"
    assert "::notice title=greenloop fixed,file=m.py,line=2,endLine=2::" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("result", "code"),
    [(unsolved(), 1), (unsolved(StopReason.CANCELLED), 130), (CannotVerifyError("no sandbox"), 3)],
)
def test_a_report_is_written_however_it_ends(fake, project, result, code):
    fake.result = result
    assert main(["fix", "--all", "--report", "junit=a.xml", "--json"]) == code
    suite = ET.parse(project / "a.xml").getroot()[0]
    assert [case.get("name") for case in suite] == ["test_double"]
    assert len(suite[0]) == 1


def test_a_suite_that_passes_is_an_empty_report(fake, project):
    fake.red = []
    assert main(["fix", "--report", "junit=a.xml"]) == 0
    assert ET.parse(project / "a.xml").getroot()[0].get("tests") == "0"


def test_paths_begin_at_the_top_of_the_repository(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "a/b").mkdir(parents=True)
    assert repository_prefix(tmp_path / "a/b") == "a/b/"
    assert repository_prefix(tmp_path) == ""


def test_a_search_that_is_cancelled_is_not_an_empty_report(fake, project):
    async def cancelled(_root, _folder, **_more):
        raise asyncio.CancelledError

    fake.list_failing_tests = cancelled
    assert main(["fix", "--all", "--report", "junit=a.xml"]) == 130
    assert ET.parse(project / "a.xml").getroot()[0].get("failures") == "1"
