"""What is noticed when the machinery that decides a test is replaced."""

from __future__ import annotations

import builtins
import doctest
import sys
import types
import unittest

import pytest

from inside import load


def noop(*_arguments, **_keywords):
    return True


@pytest.mark.parametrize(
    ("owner", "name", "dotted"),
    [
        (doctest.OutputChecker, "check_output", "doctest.OutputChecker.check_output"),
        (doctest, "OutputChecker", "doctest.OutputChecker"),
        (builtins, "sorted", "builtins.sorted"),
        (sys, "displayhook", "sys.displayhook"),
        (unittest.TestCase, "assertEqual", "unittest.case.TestCase.assertEqual"),
    ],
)
def test_a_replaced_function_is_named(monkeypatch, owner, name, dotted):
    altered = load("integrity").make_watch()
    assert altered() == []
    monkeypatch.setattr(owner, name, noop)
    assert dotted in altered()
    monkeypatch.undo()
    assert altered() == []


def test_replaced_code_of_the_same_function_is_named(monkeypatch):
    altered = load("integrity").make_watch()
    monkeypatch.setattr(doctest.OutputChecker.check_output, "__code__", noop.__code__)
    assert altered() == ["doctest.OutputChecker.check_output"]


LAZY = """
def compile_first(function):
    function.__code__ = function.maker(function.text)


def area():
    pass


area.text, area.maker = "lambda: 1", lambda text: compile(text, "<compiled>", "eval").co_consts[0]
"""


@pytest.fixture
def lazy(tmp_path, monkeypatch):
    """A package that compiles its function at the first call, the watch, and a hook as the worker has it."""
    path = tmp_path / "site-packages" / "lazy_package.py"
    path.parent.mkdir()
    path.write_text(LAZY)
    package = types.ModuleType("lazy_package")
    exec(compile(LAZY, str(path), "exec", dont_inherit=True), vars(package))
    monkeypatch.setitem(sys.modules, "lazy_package", package)
    altered = load("integrity").make_watch(load("code_objects"))
    altered.add(["lazy_package"])

    def watch(event, arguments):
        if watched and event == "object.__setattr__" and arguments[1] == "__code__":
            altered.excuse(arguments[0], arguments[2], sys._getframe(1))

    watched = [True]
    sys.addaudithook(watch)
    yield package, altered
    watched.clear()


def test_a_package_may_compile_its_own_function(lazy):
    package, altered = lazy
    package.compile_first(package.area)
    assert (package.area(), altered()) == (1, [])
    package.area.__code__ = noop.__code__
    assert altered() == ["lazy_package.area"]


@pytest.mark.parametrize("attribute", ["text", "maker"])
def test_not_from_what_was_given_to_it_since(lazy, attribute):
    package, altered = lazy
    setattr(package.area, attribute, {"text": "lambda: True", "maker": lambda text: noop.__code__}[attribute])
    package.compile_first(package.area)
    assert altered() == ["lazy_package.area"]


def test_nor_by_code_that_is_not_the_package_s(lazy):
    package, altered = lazy
    text = "def compile_first(function):\n    function.__code__ = (lambda: True).__code__\n"
    space = {}
    exec(compile(text, package.compile_first.__code__.co_filename, "exec", dont_inherit=True), space)
    space["compile_first"](package.area)
    assert altered() == ["lazy_package.area"]
