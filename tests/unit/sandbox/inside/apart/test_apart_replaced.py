"""What tests have replaced, and from which task a call comes."""

from __future__ import annotations

import asyncio
import sys
from unittest import mock

import pytest

from two_sides import apart

replaced = apart["apart_replaced"]


def test_each_task_has_a_number_and_knows_the_one_that_it_was_copied_from():
    numbers = replaced.TaskNumbers()

    async def one():
        return numbers.current()

    async def both():
        return [numbers.current(), *await asyncio.gather(one(), one())]

    assert numbers.current() == (0, None)
    assert asyncio.run(both()) == [(1, 0), (2, 1), (3, 1)]
    assert numbers.current() == (0, None)


@pytest.fixture
def targets():
    """The names that are replaced right now, as far as the watch has seen them."""
    originals = mock._patch.__enter__, mock._patch.__exit__, pytest.MonkeyPatch.__init__
    watch = replaced.Replacements()
    watch.watch()
    yield lambda: [(target.__name__, name) for target, name in watch.targets()]
    mock._patch.__enter__, mock._patch.__exit__, pytest.MonkeyPatch.__init__ = originals


def test_replaced_attributes_are_known_until_they_are_put_back(targets):
    with mock.patch("sys.maxsize", 1), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "platform", "x")
        patch.setitem(vars(sys), "byteorder", "x")
        assert sorted(targets()) == [("sys", "byteorder"), ("sys", "maxsize"), ("sys", "platform")]
    assert targets() == []
