"""Mutation of expected exceptions: which statements it takes, and that the mutated text behaves as promised."""

from __future__ import annotations

import ast

import pytest

from greenloop.verdict.assertion_mutants import Source
from greenloop.verdict.exception_mutants import change_exception, rewrite_raises, suppress_raises

BLOCK = "import pytest\n\ndef test_a():\n    with pytest.raises(KeyError):\n        {}['a']\n"
CALL = "import pytest\n\ndef test_a():\n    pytest.raises(KeyError, {}.__getitem__, 'a')\n"


def mutate(text, change):
    tree = ast.parse(text)
    source = Source(text, tree)
    edits = change(tree.body[-1].body[0], source)
    return None if edits is None else source.apply(edits)


def run(text):
    names = {}
    exec(text, names)
    names["test_a"]()


@pytest.mark.parametrize("text", [BLOCK, CALL])
def test_a_rewritten_expectation_still_holds(text):
    mutated = mutate(text, rewrite_raises)
    assert mutated != text
    run(mutated)


@pytest.mark.parametrize("text", [BLOCK, CALL])
def test_a_suppressed_expectation_fails(text):
    with pytest.raises(pytest.fail.Exception, match="Unrelated"):
        run(mutate(text, suppress_raises))


def test_a_changed_expectation_fails_with_the_original_exception():
    with pytest.raises(pytest.fail.Exception, match="Unrelated"):
        run(mutate(BLOCK, change_exception))


def test_other_statements_are_left_alone():
    text = "def test_a():\n    assert 1 == 1\n"
    assert [mutate(text, change) for change in (rewrite_raises, suppress_raises, change_exception)] == [None] * 3
