"""Which functions and constants of the tests' own files were replaced."""

from __future__ import annotations

import sys
import types

import pytest

from inside import load

TEXT = """\
import functools

LARGEST = 3
CASES = [(1, 2), (3, 4)]
SEEN = []


def check(value):
    assert value


@functools.lru_cache
def kept():
    return 1


class Base:
    def same(self):
        return 1


class TestAll(Base):
    def test_one(self):
        SEEN.append(1)
        for case in CASES:
            check(case)
"""


@pytest.fixture
def tests(tmp_path, monkeypatch):
    path = tmp_path / "test_it.py"
    path.write_text(TEXT)
    module = types.ModuleType("test_it")
    module.__file__ = str(path)
    exec(compile(TEXT, str(path), "exec", dont_inherit=True), vars(module))
    for kind in (module.Base, module.TestAll):
        kind.__module__ = "test_it"
    monkeypatch.setitem(sys.modules, "test_it", module)
    return module


def replaced(tests):
    return load("bystanders").make({tests.__file__}, load("code_objects"))


def noop(*_arguments):
    return None


CHANGES = {
    "test_it.check": lambda tests: setattr(tests, "check", noop),
    "test_it.Base.same": lambda tests: setattr(tests.Base.same, "__code__", noop.__code__),
    "test_it.TestAll.same": lambda tests: setattr(tests.TestAll, "same", noop),
    "test_it.LARGEST": lambda tests: setattr(tests, "LARGEST", 4),
    "test_it.CASES": lambda tests: tests.CASES.pop(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_replaced_later_is_named(tests, name):
    names = replaced(tests)
    assert names() == []
    CHANGES[name](tests)
    assert names() == [name]


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_replaced_before_is_named(tests, name):
    CHANGES[name](tests)
    assert replaced(tests)() == [name]


def test_what_tests_change_themselves_is_theirs(tests):
    names = replaced(tests)
    tests.TestAll().test_one()
    tests.TestAll.other = noop
    tests.kept()
    assert names() == []
