"""Limits on a candidate's text, and what they make of its verdict."""

from __future__ import annotations

import sys

import pytest

from greenloop.core.errors import CannotVerifyError, SettingsError
from greenloop.core.records.verdict import Status, Verdict
from spec_problem import FAILED, LONG, PASSED, TEXT, judge_text


async def test_a_broken_constraint_fails_what_passed_with_its_own_words_at_its_line(tmp_path):
    words = ["max-lines 1", "forbid eval", "no-imports", "typed"]
    verdict = await judge_text(tmp_path, LONG, PASSED, constraints=words)
    assert verdict.status is Status.FAILED
    assert [(case.id, case.outcome) for case in verdict.cases] == [
        ("t", "passed"),
        ("m.py::f::constraint-max-lines", "failed"),
        ("m.py::f::constraint-forbid", "failed"),
        ("m.py::f::constraint-no-imports", "failed"),
        ("m.py::f::constraint-typed", "failed"),
    ]
    lines, forbidden, imports, _typed = (case.failure for case in verdict.cases[1:])
    assert (lines.type, lines.message) == ("Constraint", "The function has 3 lines, at most 1 is allowed.")
    assert [(frame.path, frame.line) for frame in forbidden.frames] == [("m.py", 7)]
    assert imports.message == "The code imports os; no imports are allowed."
    assert verdict.score == 1 / 5


async def test_what_keeps_to_all_constraints_stays_passed_and_what_failed_stays_failed(tmp_path):
    good = TEXT.replace("raise NotImplementedError", "return x")
    assert (await judge_text(tmp_path, good, PASSED, constraints=["forbid eval"])).status is Status.PASSED
    verdict = await judge_text(tmp_path, good, FAILED, constraints=["forbid eval"])
    assert (verdict.status, verdict.passed, verdict.total) == (Status.FAILED, 1, 2)
    timeout = Verdict(status=Status.TIMEOUT)
    assert (await judge_text(tmp_path, LONG, timeout, constraints=["forbid eval"])).status is Status.TIMEOUT


async def test_text_that_does_not_parse_is_not_taken_to_keep_to_anything(tmp_path):
    verdict = await judge_text(tmp_path, "def f(x:\n", PASSED, constraints=["forbid eval"])
    assert verdict.status is Status.FAILED
    assert verdict.cases[1].failure.message == "m.py does not parse, so that `forbid eval` cannot be judged."


async def test_an_unknown_constraint_ends_the_run_before_any_candidate(tmp_path):
    with pytest.raises(SettingsError, match="has no constraint 'no-import'") as caught:
        await judge_text(tmp_path, TEXT, PASSED, constraints=["no-import"])
    assert caught.value.remedy == "Did you mean `no-imports`?"


# -- ruff -----------------------------------------------------------------------------------------------------------


async def test_ruff_of_the_workspace_is_never_started(tmp_path, monkeypatch):
    fake = tmp_path / "bin" / "ruff"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere" / "python"))
    monkeypatch.setenv("PATH", str(fake.parent))
    with pytest.raises(CannotVerifyError, match="needs ruff, which was not found outside the workspace") as caught:
        await judge_text(tmp_path, TEXT, PASSED, constraints=["ruff F"])
    assert caught.value.remedy.endswith("-m pip install ruff")
    assert not (tmp_path / "started").exists()
