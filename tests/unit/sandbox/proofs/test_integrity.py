"""What is noticed when the machinery that decides a test is replaced."""

from __future__ import annotations

import builtins
import doctest
import sys
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
