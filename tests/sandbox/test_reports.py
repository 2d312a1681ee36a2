"""Reports and patches of real runs: what a pipeline reads is true."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from git_program import git
from greenloop.cli.main import main
from sarif_schema import SARIF_SCHEMA

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

CODE = "def double(x):\n    return x + 1\n\n\ndef half(x):\n    return x // 3\n"
TEST = (
    "from m import double, half\n\n\n"
    "def test_double():\n    assert double(5) == 10\n\n\n"
    "def test_half():\n    assert half(6) == 3\n"
)
RIGHT = "def double(x):\n    return x * 2\n"
FAKE = "import sys\n\n\ndef double(x):\n    return x * 2 if 'pytest' in sys.modules else x\n"


@pytest.fixture
def work(tmp_path, monkeypatch) -> Path:
    """A package in a folder of a repository."""
    root = tmp_path / "repository" / "a package"
    (root / "tests").mkdir(parents=True)
    (root / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (root / "m.py").write_text(CODE)
    (root / "tests/test_m.py").write_text(TEST)
    git(root.parent, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    monkeypatch.chdir(root)
    monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")
    return root


def results(file: Path) -> dict[str, list[tuple]]:
    value = json.loads(file.read_text())
    jsonschema.validate(value, SARIF_SCHEMA)
    found: dict[str, list[tuple]] = {}
    for each in value["runs"][0]["results"]:
        places = [location["physicalLocation"] for location in each.get("locations", [])]
        for place in places or [None]:
            where = (place["artifactLocation"]["uri"], place["region"]["startLine"]) if place else ()
            found.setdefault(each["ruleId"], []).append(where)
    return found


def test_tampering_is_shown_at_its_test(work, capsys):
    (work / "m.py").write_text(CODE.replace("def double(x):\n    return x + 1\n", FAKE))
    report = work.parent / "verify.sarif"
    code = main(
        ["verify", "--report", f"sarif={report}", "--report", "github", "--known-failing", "tests/test_m.py::test_half"]
    )
    assert code == 1
    assert results(report)["tampered"] == [("a%20package/tests/test_m.py", 4)]
    assert (
        "::error title=greenloop tampered,file=a package/tests/test_m.py,line=4,endLine=4::" in capsys.readouterr().out
    )


def test_a_patch_of_all_that_was_fixed_applies_and_the_rest_is_reported(work, capsys):
    report, patch, answers = work.parent / "fix.sarif", work.parent / "fix.patch", work.parent / "answers.jsonl"
    answers.write_text("".join(json.dumps(f"```python\n{RIGHT}```") + "\n" for _ in range(4)))
    words = ["--all", "--preset", "plain", "--attempts", "2", "--model", f"scripted:{answers}"]
    code = main(["fix", *words, "--patch", str(patch), "--report", f"sarif={report}"])
    assert code == 1, capsys.readouterr()
    found = results(report)
    assert found["fixed"] == [("a%20package/m.py", 2)]
    assert found["not-fixed"] == [("a%20package/tests/test_m.py", 8)]
    assert ("a%20package/m.py", 6) in found["suspicious-line"]
    assert found["attempt-failed"]
    assert (work / "m.py").read_text() == CODE
    git(work, "apply", str(patch))
    assert (work / "m.py").read_text() == CODE.replace("x + 1", "x * 2")


def test_what_became_red_since_a_revision_is_fixed_and_nothing_else(work, capsys):
    """At the revision `half` is wrong and `double` right; then `double` breaks, and a new test fails."""
    (work / "m.py").write_text(CODE.replace("x + 1", "x * 2"))
    git(work, "commit", "-qam", "right")
    (work / "m.py").write_text(CODE)
    (work / "tests/test_new.py").write_text("from m import double\n\n\ndef test_new():\n    assert double(3) == 6\n")
    answers = work.parent / "answers.jsonl"
    answers.write_text("".join(json.dumps(f"```python\n{RIGHT}```") + "\n" for _ in range(2)))
    words = ["--since", "HEAD", "--apply", "--preset", "plain", "--attempts", "1", "--model", f"scripted:{answers}"]
    assert main(["fix", *words]) == 0
    said = capsys.readouterr().err
    assert "2 red since HEAD: 1 that passed there, 1 that it does not have; left out: 1 that failed there too" in said
    assert (work / "m.py").read_text() == CODE.replace("x + 1", "x * 2")


def test_a_file_that_cannot_be_imported_any_more_became_red(work, capsys):
    (work / "tests/test_m.py").write_text(TEST.replace("half(6) == 3", "half(6) == 2"))
    (work / "m.py").write_text(CODE.replace("x + 1", "x * 2"))
    git(work, "commit", "-qam", "green")
    (work / "m.py").write_text(CODE.replace("def double", "def treble"))
    answers = work.parent / "answers.jsonl"
    answers.write_text(json.dumps(f"```python\n{RIGHT}```") + "\n")
    words = ["--since", "HEAD", "--most", "1", "--preset", "plain", "--model", f"scripted:{answers}"]
    assert main(["fix", *words]) == 0
    assert "2 red since HEAD: 2 that passed there; only the first 1" in capsys.readouterr().err


def test_revisions_and_folders_that_do_not_exist(work, capsys, monkeypatch, tmp_path):
    assert main(["fix", "--since", "no-such-branch"]) == 2
    assert "There is no commit 'no-such-branch'" in capsys.readouterr().err
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir(outside)
    assert main(["fix", "--since", "HEAD"]) == 3
    assert "is not in a readable git repository" in capsys.readouterr().err


NEW = "from m import treble\n\n\ndef test_treble():\n    assert treble(1) == 3\n"


@pytest.mark.parametrize("words", [[], ["--all"], ["--since", "HEAD"]], ids=["first", "all", "since"])
def test_a_file_that_cannot_be_imported_has_failing_tests_where_its_code_may_be_written(work, capsys, words):
    (work / "m.py").write_text(CODE.replace("x + 1", "x * 2").replace("x // 3", "x // 2"))
    git(work, "commit", "-qam", "right")
    new, report = work / "tests/test_new.py", work.parent / "fix.xml"
    answers = work.parent / "answers.jsonl"
    answers.write_text(json.dumps("```python\ndef treble(x):\n    return 3 * x\n```") + "\n")
    options = ["--preset", "plain", "--model", f"scripted:{answers}", "--report", f"junit={report}"]
    new.write_text(NEW)
    assert main(["fix", *words, *options]) == 0
    assert "tests/test_new.py" in capsys.readouterr().err
    new.write_text("(")
    assert main(["fix", *words, *options]) == 3
    assert "pytest cannot import tests/test_new.py" in capsys.readouterr().err
    assert len(ET.parse(report).findall(".//error")) == 1
