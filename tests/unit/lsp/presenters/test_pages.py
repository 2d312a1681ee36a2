"""What a planner or a critic wrote is on the page with all attempts, without markup of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from double_problem import BASELINE, WRONG, make_attempt
from editor_runs import a_run
from greenloop.core.records.attempt import FeedbackNote
from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.presenters import pages

TARGET = Target(kind=TargetKind.TEST, path="t.py", qualname="t", selector="t.py::t", start=1, end=1, name_line=1)


def test_plan_explanation_and_unused_answer_are_on_the_page():
    fields = (
        {"artefacts": {"plan": "1. take x\n2. double it", "simulation": ""}},
        {"explanation": "It adds. ```\n[link](http://x)", "artefacts": "of another kind"},
        {"unparsable": "no idea"},
    )
    attempts = [
        replace(each, notes=(FeedbackNote(text="", fields=some),))
        for each, some in zip((BASELINE, make_attempt(1, WRONG[0]), make_attempt(2, WRONG[1])), fields, strict=True)
    ]
    run = a_run(Path("/w"), TARGET, attempts=attempts)
    run.progress.attempts = attempts
    text = pages.attempts_page([run])
    assert "Plan:\n\n```text\n1. take x\n2. double it\n```" in text
    assert "Simulation" not in text
    assert "Explanation:\n\n````text\nIt adds. ```\n[link](http://x)\n````" in text
    assert "Unparsable:\n\n```text\nno idea\n```" in text
