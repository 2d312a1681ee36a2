"""What is noticed when the one runner of a doctest's example is changed."""

from __future__ import annotations

import doctest
import linecache
import sys
from types import SimpleNamespace

import pytest

from inside import load


def run(act, source=">>> act()\n1\n"):
    """The example's checker after it has run; what it looked at is counted."""
    looks: list[int] = []
    test = doctest.DocTestParser().get_doctest(source, {"act": act}, "m.f", "m.py", 0)
    item = SimpleNamespace(runner=doctest.DebugRunner(verbose=False), dtest=test)
    checker = load("doctest_watch").Checker(item, lambda: looks.append(1))
    passed = True
    try:
        item.runner.run(test, clear_globs=False)
    except (doctest.DocTestFailure, doctest.UnexpectedException):
        passed = False
    checker.finish(passed)
    return passed, checker.found, len(looks)


def runner():
    return linecache.getlines.__self__


def lie(change):
    def act():
        change()
        return 2

    return act


def test_honest_examples():
    assert run(lambda: 1) == (True, [], 1)
    assert run(lambda: 2) == (False, [], 1)
    assert run(lambda: 1 / 0)[:2] == (False, [])
    error = ">>> act()\nTraceback (most recent call last):\nZeroDivisionError: division by zero\n"
    assert run(lambda: 1 / 0, error)[:2] == (True, [])


CHANGES = {
    "the stream": (lambda: setattr(sys.stdout, "getvalue", lambda: "1\n"), "sys.stdout"),
    "the wanted text": (lambda: setattr(runner().test.examples[0], "want", "2\n"), "what the example expects"),
    "the report": (lambda: setattr(runner(), "report_failure", lambda *rest: None), "doctest's runner"),
    "the checker": (lambda: setattr(runner(), "_checker", None), "doctest's runner"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_changed_is_told(what):
    change, told = CHANGES[what]
    assert told in run(lie(change))[1]
