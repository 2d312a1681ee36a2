"""What a planner wrote, as it is listed for the user."""

from __future__ import annotations

from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.verdict import Status, Verdict
from greenloop.wording.attempt import artefact_title, first_rows, list_artefacts


def attempt(number: int, *fields: dict) -> Attempt:
    notes = tuple(FeedbackNote(text="", fields=each) for each in fields)
    return Attempt(number=number, verdict=Verdict(status=Status.FAILED), notes=notes)


def test_artefacts_of_all_notes_by_name():
    one = attempt(0, {}, {"artefacts": {"plan": "1. add", "simulation": ""}}, {"artefacts": {"review": "good"}})
    assert list_artefacts(one) == {"plan": "1. add", "review": "good"}
    assert artefact_title(one, "plan") == "Plan:"
    assert artefact_title(attempt(2), "first divergence") == "First divergence of attempt 2:"


def test_an_answer_that_was_not_used_is_one_of_them():
    one = attempt(0, {"artefacts": {}, "unparsable": "no idea"}, {"unparsable": "a critic's"})
    assert [(artefact_title(one, name), text) for name, text in list_artefacts(one).items()] == [
        ("The planner's answer that was not used:", "no idea")
    ]


def test_fields_of_another_kind_are_ignored():
    assert list_artefacts(attempt(0, {"artefacts": "plan"}, {"artefacts": ["plan"]}, {"artefacts": None})) == {}


def test_first_rows():
    assert first_rows("a\nb", 2) == "a\nb"
    assert first_rows("a\nb\nc\nd", 2) == "a\nb\n… 2 more lines"
