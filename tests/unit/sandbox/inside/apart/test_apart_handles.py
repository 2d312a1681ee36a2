"""Objects that cannot be copied are asked where they are."""

from __future__ import annotations

import copy
import inspect

import pytest

from two_sides import CannotCross, conversation


def test_a_function_of_the_code_is_a_handle_that_can_be_called():
    held = []

    def make():
        return lambda x: held.append(x) or len(held)

    with conversation(make=make) as judge:
        handle = judge.ask("make")
        assert [handle(1), handle(x=2)] == [1, 2]
        assert held == [1, 2]
        assert handle != 1
        assert not inspect.isfunction(handle)
        assert copy.deepcopy(handle) is handle


def test_a_generator_of_the_code_is_stepped_through():
    def count():
        got = yield 1
        yield [got]

    with conversation(count=count) as judge:
        handle = judge.ask("count")
        with pytest.raises(CannotCross):
            copy.copy(handle)
        assert [next(handle), *handle] == [1, [None]]


def test_a_handle_that_comes_back_is_the_object_itself():
    made = iter((1, 2))
    with conversation(make=lambda: made, is_it=lambda given: given is made) as judge:
        assert judge.ask("is_it", judge.ask("make"))
