"""Exceptions of another type than the tests expect."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.exception_types import COMMON, exception_types

RAISED = "def f(x):\n    raise {}\n"
CAUGHT = "def f(x):\n    try:\n        return x[0]\n    except {}:\n        return None\n"


def changes(failing, text, kind="ValueError", shown=""):
    return [change.text for change in exception_types(text, failing(("no", None, None), kind=kind, text=shown))]


@pytest.mark.parametrize("raised", ["ValueError", "ValueError('no')", "m.Wrong('no') from x"])
def test_what_the_tests_expect_is_raised_and_first_what_they_show(failing, raised):
    kind = raised.partition("(")[0]
    found = changes(failing, RAISED.format(raised), kind, "    with pytest.raises(LookupError): f(1)")
    names = dict.fromkeys(["LookupError", *COMMON])
    assert found == [RAISED.format(raised.replace(kind, name)) for name in names if name != kind]


def test_another_exception_is_caught(failing):
    found = changes(failing, CAUGHT.format("KeyError"), "IndexError")
    assert found == [CAUGHT.format("IndexError"), CAUGHT.format("(KeyError, IndexError)")]
    more = changes(failing, CAUGHT.format("(KeyError, OSError)"), "IndexError")[1]
    assert more == CAUGHT.format("(KeyError, OSError, IndexError)")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (RAISED.format("TypeError"), "ValueError"),
        (RAISED.format("AssertionError"), "AssertionError"),
        (CAUGHT.format("KeyError"), "Wrong"),
        ("x = 1\n", "ValueError"),
        ("def f(:\n", "ValueError"),
    ],
)
def test_other_code_stays(failing, text, kind):
    assert not changes(failing, text, kind)
