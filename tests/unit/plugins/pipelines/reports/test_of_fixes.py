"""What a fix has to say about lines: its result, errors of attempts, suspicious lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fake_engine import AFTER, BEFORE, CASE, TEST, attempt, solved, tampered, unsolved
from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.outcome import StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.plugins.pipelines.reports.annotations import Level
from greenloop.plugins.pipelines.reports.of_fixes import MAX_LINES, Fix, annotate_fix


@pytest.fixture
def root(tmp_path):
    (tmp_path / "test_m.py").write_text(TEST)
    return tmp_path


@pytest.fixture
def problem(root):
    region = Region(path="m.py", qualname="double", start=1, end=20)
    scores = {line: line / 100 for line in range(1, 40)}
    return Problem(root=root, spec=Spec(), regions=(region,), originals={}, files={}, suspicion={"m.py": scores})


def test_a_result_is_a_note_with_its_change(root, problem):
    fix = Fix(target=CASE, outcome=solved(root), problem=problem)
    first, second = annotate_fix(fix, root)
    assert (first.rule, first.level, first.path, first.line) == ("fixed", Level.NOTE, "m.py", 2)
    assert first.changes == {"m.py": (BEFORE, AFTER)}
    assert (second.rule, second.level) == ("attempt-failed", Level.NOTE)
    assert "AssertionError test_m.py:5: assert 6 == 10\\x1b[2J" in second.message
    assert (second.path, second.line, second.end_line) == ("m.py", 1, 20)


def test_a_partial_result_is_a_warning_unless_it_is_accepted(root, problem):
    fix = Fix(target=CASE, outcome=solved(root, verified=Verified.PARTIALLY), problem=problem)
    assert annotate_fix(fix, root)[0].level is Level.WARNING
    assert annotate_fix(replace(fix, accept=("partial",)), root)[0].level is Level.NOTE


def test_without_a_result_the_test_is_an_error_and_the_most_suspicious_lines_are_named(root, problem):
    found = annotate_fix(Fix(target=CASE, outcome=unsolved(), problem=problem), root)
    assert (found[0].rule, found[0].level, found[0].path, found[0].line) == ("not-fixed", Level.ERROR, "test_m.py", 4)
    lines = [each.line for each in found if each.rule == "suspicious-line"]
    assert lines == [20, 19, 18, 17, 16][:MAX_LINES]


def test_a_faked_attempt_is_told_as_one(root, problem):
    found = annotate_fix(Fix(target=CASE, outcome=unsolved(attempts=(attempt(0), tampered(1))), problem=problem), root)
    (faked,) = [each for each in found if each.rule == "attempt-tampered"]
    assert faked.level is Level.WARNING
    assert faked.message.endswith(f"{CASE} does not fail as it must.")


def test_an_error_is_told_with_its_remedy(root):
    fix = Fix(target=CASE, error=CannotVerifyError("No sandbox.", remedy="Install one."))
    (only,) = annotate_fix(fix, root)
    assert (only.rule, only.level) == ("not-fixed", Level.ERROR)
    assert only.message == f"{CASE}: No sandbox. Install one."


def test_an_error_of_the_whole_suite_names_no_test(root):
    (only,) = annotate_fix(Fix(target="", error=CannotVerifyError("No sandbox.")), root)
    assert (only.message, only.path) == ("No sandbox.", "")


def test_what_passed_already_says_nothing(root):
    green = unsolved(
        StopReason.ALREADY_GREEN, solved=True, verified=Verified.VERIFIED, attempts=(), message="It passes."
    )
    assert annotate_fix(Fix(target=CASE, outcome=green), root) == []
