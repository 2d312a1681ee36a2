"""Names that were meant, from the failures of an attempt."""

from __future__ import annotations

import pytest

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.verdict import CaseResult, Failure, Status, Verdict
from greenloop.drafting.candidates.changes.misspelled import corrected_names, corrections


def failing(*messages):
    cases = tuple(
        CaseResult(id=str(number), outcome="failed", failure=Failure(type="NameError", message=each))
        for number, each in enumerate(messages)
    )
    return Attempt(
        number=0, verdict=Verdict(status=Status.FAILED, cases=(*cases, CaseResult(id="c", outcome="passed")))
    )


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("name 'resutl' is not defined. Did you mean: 'result'?", {"resutl": "result"}),
        ("'str' object has no attribute 'spilt'. Did you mean: 'split'?", {"spilt": "split"}),
        ("module 'math' has no attribute 'sqtr'. Did you mean: 'sqrt'?", {"sqtr": "sqrt"}),
        ("name 'resutl' is not defined", {}),
        ("no option 'x'. Did you mean: 'y'?", {}),
    ],
)
def test_names_that_were_meant(message, wanted):
    assert corrected_names(failing(message)) == wanted


def test_of_several_failures_in_their_order():
    messages = [f"name '{wrong}' is not defined. Did you mean: '{right}'?" for wrong, right in ("ab", "cd")]
    assert list(corrected_names(failing(*messages)).items()) == [("a", "b"), ("c", "d")]


def test_they_are_corrected_everywhere_and_then_in_one_place_alone():
    text = "    @cahce\n    def f(é):\n        é.itmes()\n        return é.itmes().x + itmes\n"
    assert list(corrections(text, {"itmes": "items", "cahce": "cache", "no": "such"})) == [
        (3, text.replace("itmes", "items")),
        (3, text.replace("é.itmes()\n", "é.items()\n")),
        (4, text.replace("itmes().x", "items().x")),
        (4, text.replace("+ itmes", "+ items")),
        (1, text.replace("@cahce", "@cache")),
    ]


def test_text_that_does_not_parse_has_no_corrections():
    assert not list(corrections("def f(:\n    itmes\n", {"itmes": "items"}))
