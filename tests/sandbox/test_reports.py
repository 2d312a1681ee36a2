"""Reports and patches of real runs: what a pipeline reads is true."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

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
FAKE = "class All:\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n\n\ndef double(x):\n    return All()\n"


def git(root: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True, capture_output=True
    )


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
