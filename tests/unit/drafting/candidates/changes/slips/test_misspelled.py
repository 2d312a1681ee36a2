"""Names that were meant, from the failures of an attempt."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.misspelled import corrected_names, misspelled_names


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("name 'resutl' is not defined. Did you mean: 'result'?", {"resutl": "result"}),
        ("'str' object has no attribute 'spilt'. Did you mean: 'split'?", {"spilt": "split"}),
        ("module 'math' has no attribute 'sqtr'. Did you mean: 'sqrt'?", {"sqtr": "sqrt"}),
        ("name 'size' is not defined. Did you mean: 'self.size'?", {"size": "self.size"}),
        ("name 'resutl' is not defined", {}),
        ("no option 'x'. Did you mean: 'y'?", {}),
    ],
)
def test_names_that_were_meant(failing, message, wanted):
    assert corrected_names(failing((message, None, None))) == wanted


def unknown(wrong, right):
    return (f"name '{wrong}' is not defined. Did you mean: '{right}'?", None, None)


def test_of_several_failures_in_their_order(failing):
    assert list(corrected_names(failing(unknown("a", "b"), unknown("c", "d"))).items()) == [("a", "b"), ("c", "d")]


def test_they_are_corrected_everywhere_and_then_in_one_place_alone(failing):
    text = "    @cahce\n    def f(é):\n        é.itmes()\n        return é.itmes().x + itmes\n"
    attempt = failing(unknown("itmes", "items"), unknown("cahce", "cache"), unknown("no", "such"))
    assert [(change.line, change.text) for change in misspelled_names(text, attempt)] == [
        (3, text.replace("itmes", "items")),
        (3, text.replace("é.itmes()\n", "é.items()\n")),
        (4, text.replace("itmes().x", "items().x")),
        (4, text.replace("+ itmes", "+ items")),
        (1, text.replace("@cahce", "@cache")),
    ]


def test_text_that_does_not_parse_has_no_corrections(failing):
    assert not list(misspelled_names("def f(:\n    itmes\n", failing(unknown("itmes", "items"))))


def test_an_attribute_of_self_is_meant_by_the_bare_name_alone(failing):
    text = "def f(self, other):\n    return size + other.size\n"
    changes = misspelled_names(text, failing(unknown("size", "self.size")))
    assert [change.text for change in changes] == [text.replace("return size", "return self.size")]
