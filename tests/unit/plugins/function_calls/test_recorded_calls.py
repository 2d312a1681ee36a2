"""Calls that are recorded while tests run, and compared later, varied."""

from __future__ import annotations

import importlib
import sys

import pytest

from greenloop.plugins.function_calls import recorded_calls, same_results

CODE = '''\
import functools

LIMIT = 3


class Base:
    def scaled(self, by):
        return self.size * by


class Box(Base):
    def __init__(self, size):
        self.size = size

    def scaled(self, by, *more, least=0):
        """Scaled."""
        if more:
            return self.scaled(by, least=least) + self.scaled(*more, least=least)
        return max(super().scaled(by), least)

    @staticmethod
    def empty(flag):
        return Box(0) if flag else None

    @property
    def area(self):
        return self.size ** 2 if isinstance(self, Box) else 0


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
'''


@pytest.fixture
def compare(tmp_path, monkeypatch):
    """Records what `use` calls of `qualname` in this module, and compares it with the text before."""
    monkeypatch.syspath_prepend(tmp_path)

    def compare(qualname, use, now=CODE):
        (tmp_path / "recorded_module.py").write_text(now)
        monkeypatch.delitem(sys.modules, "recorded_module", raising=False)
        importlib.invalidate_caches()
        recorded_calls.CALLS.clear()
        same_results.COMPARED.clear()
        recorded_calls.record_calls("recorded_module", qualname)
        try:
            use(importlib.import_module("recorded_module"))
        finally:
            difference = recorded_calls.compare_calls("recorded_module", qualname, CODE)
        return difference, len(same_results.COMPARED)

    return compare


USES = {
    "Box.scaled": lambda module: module.Box(3).scaled(2, 4, least=1),
    "Box.empty": lambda module: module.Box.empty(True),
    "Box.area": lambda module: module.Box(3).area,
    "fib": lambda module: module.fib(10),
}


@pytest.mark.parametrize("qualname", USES)
def test_the_same_text_is_the_same(compare, qualname):
    difference, compared = compare(qualname, USES[qualname])
    assert (difference, compared > 0) == ("", True)


@pytest.mark.parametrize(
    ("qualname", "old", "new"),
    [
        ("Box.scaled", "max(super().scaled(by), least)", "super().scaled(by)"),
        ("Box.scaled", "self.scaled(*more, least=least)", "self.scaled(by, least=least)"),
        ("Box.empty", "if flag else None", ""),
        ("Box.area", "self.size ** 2", "self.size * 3 + self.__dict__.setdefault('x', 0)"),
        ("fib", "n if n < 2", "max(n, 0) if n < 2"),
    ],
)
def test_another_result_is_told_with_the_call(compare, qualname, old, new):
    assert old in CODE
    difference, _compared = compare(qualname, USES[qualname], CODE.replace(old, new))
    assert difference.startswith(f"{qualname}(")
    assert "differs from before" in difference


def test_arguments_that_cannot_be_copied_are_left_out(compare):
    def use(module):
        module.Box(lock).scaled([2]) if lock is None else module.Box(2).scaled(2)

    lock = object()
    assert compare("Box.scaled", use)[1] > 0
    assert compare("Box.scaled", lambda module: module.Box(sys).scaled.__name__)[1] == 0


def test_calls_are_recorded_only_as_long_as_it_is_cheap(compare):
    def use(module):
        for number in range(2 * recorded_calls.MOST_CALLS):
            module.Box(number).scaled(2)
        assert sys.getprofile() is None

    compare("Box.scaled", use)
    assert len(recorded_calls.CALLS) == recorded_calls.MOST_CALLS


@pytest.mark.parametrize(
    ("value", "some"),
    [
        (3, [-3, 4, 2, 0]),
        (True, [False]),
        ("ab", ["", "ba", "b", "abab", "a"]),
        ([2], [[], [2, 2], [-2]]),
        ({1}, [set()]),
        ({"a": 1}, [{}, {"a": 2}]),
        (None, []),
    ],
)
def test_values_like_one(value, some):
    varied = list(recorded_calls.vary(value))
    assert all(each in varied for each in some)
    assert value not in varied


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (CODE, ""),
        # It knows whether it was called before.
        (
            CODE.replace("@functools.lru_cache(maxsize=None)\ndef fib", "FIRST = [1]\n\n\ndef fib").replace(
                "    return n if n < 2", "    if FIRST:\n        return FIRST.pop()\n    return n if n < 2"
            ),
            "fib(10) gave a test ('int', 1)",
        ),
    ],
)
def test_what_a_call_gave_the_test_is_compared_too(compare, now, told):
    recorded_calls.CHANGED.clear()
    recorded_calls.RETURNED.clear()
    compare("fib", lambda module: module.fib(10), now)
    assert recorded_calls.CHANGED[:1] == [told][: bool(told)]
