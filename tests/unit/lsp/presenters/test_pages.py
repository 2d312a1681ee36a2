"""What a planner wrote, in the hover: short, and without markup of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from critic_answers import BASELINE, attempt
from double_problem import WRONG
from editor_runs import a_run
from greenloop.core.records.attempt import FeedbackNote
from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.presenters import hover_text
from greenloop.wording.markup import without_markup

TARGET = Target(kind=TargetKind.TEST, path="t.py", qualname="t", selector="t.py::t", start=1, end=1, name_line=1)


def with_artefacts(one, **artefacts):
    return replace(one, notes=(FeedbackNote(text="", fields={"artefacts": artefacts}),))


@pytest.fixture
def run():
    baseline = with_artefacts(
        BASELINE, plan="1. take x\n2. double it", verification="\n".join("x = 1" for _ in range(30))
    )
    attempts = [
        baseline,
        with_artefacts(attempt(1, WRONG[0]), **{"first divergence": "the result is 6"}),
        with_artefacts(attempt(2, WRONG[1]), reflection="It adds. ```\n[link](http://x)"),
        attempt(3, WRONG[2]),
    ]
    run = a_run(Path("/w"), TARGET, attempts=attempts)
    run.progress.attempts = attempts
    return run


def test_plan_verification_and_the_newest_reflection_are_shown_concisely(run):
    text = hover_text.markdown(run)
    assert "Plan:\n\n```text\n1. take x\n2. double it\n```" in text
    assert "Verification:\n\n```text\nx = 1\n" in text
    assert "… 18 more lines\n```" in text
    assert "Reflection of attempt 2:\n\n````text\nIt adds. ```\n[link](http://x)\n````" in text
    assert "First divergence" not in text


def test_the_same_as_plain_text(run):
    text = without_markup(hover_text.markdown(run))
    assert "Plan:\n\n1. take x\n2. double it\n" in text
    assert "Reflection of attempt 2:\n\nIt adds. ```\n[link](http://x)" in text
    assert "```text" not in text


def test_of_a_chosen_attempt_its_own_are_shown(run):
    run.view.chosen_attempt = 1
    text = hover_text.markdown(run)
    assert "First divergence of attempt 1:" in text
    assert "Reflection" not in text


def test_what_is_shown_as_an_explanation_is_not_repeated(run):
    fields = {"explanation": "It adds.", "artefacts": {"review": "It adds."}}
    run.progress.attempts[3] = replace(run.progress.attempts[3], notes=(FeedbackNote(text="", fields=fields),))
    assert hover_text.markdown(run).count("It adds.") == 1
