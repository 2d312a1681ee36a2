"""Which assertions of a test's file run, and which of them fail unseen."""

from __future__ import annotations

import contextlib

import pytest

from inside import load

TESTS = """\
def check(value):
    assert value

def plain(value):
    assert value

def in_block(manager, value):
    with manager:
        assert value

def by_helper(manager, value):
    with manager:
        check(value)

def expected(manager, value):
    with manager:
        check(value)

def handed_over(call, value):
    call(lambda: check(value))
"""
PATH = "/root/tests/test_a.py"
ALL = range(1, 30)


def calling(call):
    with contextlib.suppress(Exception):
        call()


def watch(name, *arguments, rows=ALL, strict=ALL, look=None):
    found = load("assertion_watch").AssertionWatch(
        "/root", {"tests/test_a.py": rows}, {"tests/test_a.py": strict}, look
    )
    names: dict = {}
    exec(compile(TESTS, PATH, "exec"), names)
    tracing = found.trace()
    next(tracing)
    try:
        names[name](*arguments)
    except AssertionError:
        pass
    finally:
        next(tracing, None)
    return found


def test_lines_that_ran_are_told():
    found = watch("plain", 1, rows=[2, 5])
    assert (found.ran, found.swallowed, found.complete) == ({("tests/test_a.py", 5)}, 0, True)


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("in_block", contextlib.suppress(AssertionError)),
        ("by_helper", contextlib.suppress(AssertionError)),
        ("handed_over", calling),
    ],
)
def test_an_assertion_that_fails_in_vain_is_told(name, by):
    assert watch(name, by, 0).swallowed
    assert not watch(name, by, 1).swallowed


def test_one_that_the_test_itself_expects_is_none():
    line = TESTS[: TESTS.index("def expected")].count("\n") + 2
    lenient = set(ALL) - {line, line + 1}
    assert not watch("expected", contextlib.suppress(AssertionError), 0, strict=lenient).swallowed


def test_what_exceptions_bring_to_a_test_is_looked_at():
    def fail(_call):
        raise ValueError("brought")

    looked: list = []
    with pytest.raises(ValueError, match="brought"):
        watch("handed_over", fail, 0, look=looked.append)
    assert looked == ["brought"]


def test_another_tracer_is_left_in_peace():
    import sys

    previous = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        found = watch("plain", 1)
    finally:
        sys.settrace(previous)
    assert (found.ran, found.complete) == (set(), False)
