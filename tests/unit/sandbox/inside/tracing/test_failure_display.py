"""Which calls only show a failed assertion, and what ended a case."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from inside import load

display = load("failure_display")


def code(path: str, name: str) -> SimpleNamespace:
    return SimpleNamespace(co_filename=path, co_name=name)


@pytest.mark.parametrize(
    ("path", "name", "shows"),
    [
        ("/x/site-packages/_pytest/assertion/rewrite.py", "_saferepr", True),
        ("/x/site-packages/_pytest/assertion/rewrite.py", "exec_module", False),
        ("/x/site-packages/_pytest/assertion/util.py", "anything", True),
        ("C:\\lib\\unittest\\case.py", "_formatMessage", True),
        ("/usr/lib/python3/unittest/case.py", "assertEqual", False),
        ("/usr/lib/python3/unittest/util.py", "safe_repr", True),
        ("/work/project/util.py", "safe_repr", False),
        ("/usr/lib/python3/pprint.py", "pformat", True),
        ("<string>", "pformat", False),
    ],
)
def test_functions_that_may_show_a_failure(path, name, shows):
    assert display.may_show_failure(code(path, name)) is shows


def test_pprint_shows_a_failure_only_for_unittest():
    def frame(path: str, caller: str) -> SimpleNamespace:
        return SimpleNamespace(f_code=code(path, "pformat"), f_back=SimpleNamespace(f_code=code(caller, "f")))

    assert display.shows_failure(frame("/lib/pprint.py", "/lib/unittest/case.py"))
    assert not display.shows_failure(frame("/lib/pprint.py", "/work/m.py"))
    assert display.shows_failure(frame("/lib/_pytest/assertion/util.py", "/work/m.py"))


def test_what_ended_a_case():
    error = KeyError("x")
    assert display.ending_exceptions(object(), SimpleNamespace(excinfo=(KeyError, error, None))) == [error]
    told = SimpleNamespace(_excinfo=[SimpleNamespace(value=error), object()])
    assert display.ending_exceptions(told, SimpleNamespace(excinfo=None)) == [error]
    assert display.ending_exceptions(sys, None) == []
