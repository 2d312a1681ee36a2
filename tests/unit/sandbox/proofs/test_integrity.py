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


def test_a_function_of_a_package_that_got_other_code_is_named_as_such(monkeypatch):
    """Some packages compile their functions when they are called for the first time; a candidate's code is no such."""
    package = types.ModuleType("lazy_package")
    exec("def area():\n    pass\n", vars(package))
    monkeypatch.setitem(sys.modules, "lazy_package", package)
    altered = load("integrity").make_watch(lambda code: code is noop.__code__)
    altered.add(["lazy_package"])
    package.area.__code__ = compile("lambda: 1", "<lazy>", "eval").co_consts[0]
    assert altered() == ["lazy_package.area.__code__"]
    package.area.__code__ = noop.__code__
    assert altered() == ["lazy_package.area"]
    package.area = noop
    assert altered() == ["lazy_package.area"]
