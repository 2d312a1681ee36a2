"""Which one-token changes of a result its tests would also accept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from git_program import commit_all
from greenloop.cli.main import main
from greenloop.core.compose import compose
from greenloop.core.errors import UsageError
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.outcome import Noticed, Outcome, StopReason, Survivor, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine import after_run
from greenloop.project import configuration, settings
from greenloop.verdict.beyond_tests.changed_parts import find_changed_parts
from greenloop.verdict.beyond_tests.mutation_testing import (
    make_mutants,
    report_lines,
)

STUB = "def grade(points):\n    raise NotImplementedError\n"
GRADE = 'def grade(points):\n    if points >= 50:\n        return "pass"\n    if points < 0:\n        raise ValueError\n    return "fail"\n'
TESTS = 'from m import grade\n\n\ndef test_good():\n    assert grade(80) == "pass"\n\n\ndef test_bad():\n    assert grade(20) == "fail"\n'
REGION = Region(path="m.py", qualname="grade", start=1, end=2)


def result(root: Path, text: str = GRADE, tests: str = TESTS) -> tuple[Problem, Outcome]:
    """A solved problem: the stub on the disk, the code in the outcome."""
    (root / "m.py").write_text(STUB)
    (root / "test_m.py").write_text(tests)
    cases = tuple(
        Case(id=f"test_m.py::{line[4:].partition('(')[0]}", path="test_m.py", line=1)
        for line in tests.splitlines()
        if line.startswith("def ")
    )
    files = {"m.py": STUB, "test_m.py": tests}
    spec = Spec(cases=cases, selectors=tuple(case.id for case in cases))
    problem = Problem(root=root, spec=spec, regions=(REGION,), originals=files, files=files)
    attempt = Attempt(number=1, verdict=Verdict(status=Status.PASSED), candidate=Candidate(texts={REGION: text}))
    first = Attempt(number=0, verdict=Verdict(status=Status.FAILED))
    outcome = Outcome(
        solved=True,
        verified=Verified.VERIFIED,
        reason=StopReason.SOLVED,
        message="",
        attempts=(first, attempt),
        best=1,
    )
    return problem, outcome


@pytest.fixture
def walled(bare_python: Path) -> settings.Settings:
    line = {"sandbox.kind": "bubblewrap", "interpreter": str(bare_python)}
    return configuration.load(None, command_line=line, environ={})[0]


@pytest.mark.story("what weak tests would also accept is shown")
@pytest.mark.needs("bubblewrap")
@pytest.mark.timeout(180)
async def test_what_weak_tests_would_also_accept_is_shown(tmp_path, walled):
    problem, outcome = result(tmp_path)
    found = await after_run.measure_strength(problem, outcome, settings=walled, seconds=150)
    assert found.tests == 2
    assert 0 < found.killed < found.tried
    lines = report_lines(found)
    assert (
        lines[0] == f"The 2 tests notice {found.killed} of {found.tried} one-token changes ({100 * found.share:.0f} %)."
    )
    changed = [each.change for each in found.survivors]
    assert "`>=` → `>` in `if points >= 50:`" in changed  # nobody asks for 50 points
    assert ("m.py", 5) in found.unreached
    assert "No test reaches m.py:5." in lines


@pytest.mark.needs("bubblewrap")
@pytest.mark.timeout(180)
async def test_a_test_of_the_boundary_kills_its_changes(tmp_path, walled):
    tests = TESTS + "\n\ndef test_edges():\n    assert [grade(49), grade(50), grade(0)] == ['fail', 'pass', 'fail']\n"
    weak = await after_run.measure_strength(*result(tmp_path), settings=walled, seconds=75)
    problem, outcome = result(tmp_path, tests=tests)
    strong = await after_run.measure_strength(problem, outcome, settings=walled, seconds=75)
    assert strong.share > weak.share
    assert not [each for each in strong.survivors if each.line == 2]


async def test_only_a_solved_result_can_be_tried(tmp_path, walled):
    problem, _outcome = result(tmp_path)
    unsolved = Outcome(solved=False, verified=Verified.UNVERIFIED, reason=StopReason.STALLED, message="", attempts=())
    with pytest.raises(UsageError, match="no solved result"):
        await after_run.measure_strength(problem, unsolved, settings=walled)


def test_changes_are_spread_over_the_lines_compile_and_differ(tmp_path):
    problem, outcome = result(tmp_path)
    texts = compose(problem, outcome.attempts[1].candidate)
    found = make_mutants(texts, find_changed_parts(problem.files, texts))
    assert [each.line for each in found[:3]] != [each.line for each in found[:1]] * 3
    assert {2, 4} <= {each.line for each in found}
    texts = [each.text for each in found]
    assert len(set(texts)) == len(texts)
    assert GRADE not in texts
    for text in texts:
        compile(text, "m.py", "exec")


def test_the_report_says_how_many_more_there_are():
    survivors = (
        Survivor(path="m.py", line=1, change="`<` → `<=` in `return a < b`"),
        *(Survivor(path="m.py", line=line, change="without `return a < b`") for line in range(2, 9)),
    )
    lines = report_lines(Noticed(tests=1, tried=20, killed=12, survivors=survivors, left=3))
    assert lines[:4] == [
        "The 1 test notices 12 of 20 one-token changes (60 %).",
        "Your tests would also accept:",
        "  m.py:1: `<` → `<=` in `return a < b`",
        "  m.py:2: without `return a < b`",
    ]
    assert lines[-2:] == ["  and 3 more", "3 more were not tried: out of time."]
    assert report_lines(Noticed()) == ["No test passes with this result, so nothing can be said about their strength."]


@pytest.mark.needs("bubblewrap")
@pytest.mark.timeout(180)
@pytest.mark.parametrize(("least", "is_said"), [(0.9, True), (0.01, False), (0, False)])
def test_verify_says_what_the_tests_would_notice_of_the_change(
    tmp_path, bare_python, capsys, monkeypatch, least, is_said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(GRADE.replace(">= 50", "> 90"))
    (tmp_path / "test_m.py").write_text(TESTS)
    commit_all(tmp_path)
    (tmp_path / "m.py").write_text(GRADE)
    words = ["verify", "--set", f"interpreter={bare_python}", "--set", "sandbox.kind=bubblewrap"]
    words += ["--set", f"verify.noticed={least}"]
    assert main([*words, "--json"]) == 0
    noticed = json.loads(capsys.readouterr().out)["noticed"]
    if not least:
        assert noticed is None
        return
    assert {each["line"] for each in noticed["survivors"]} == {2}  # the only line that changed
    assert "`>=` → `>` in `if points >= 50:`" in [each["change"] for each in noticed["survivors"]]
    assert 0 < noticed["killed"] < noticed["tried"]
    assert main(words) == 0
    head, *rows = capsys.readouterr().out.split("\n")
    assert ("its tests notice" in head) is is_said
    assert "    `>=` → `>` in `if points >= 50:`, m.py:2" in rows
