"""Texts in which targets are found."""

TESTS = '''\
import pytest
import unittest


@pytest.fixture
def test_data():
    return 1


@pytest.mark.parametrize("x", [1, 2])
def test_plain(x):
    def helper():
        return x
    assert helper() == x


async def test_async():
    pass


def helper():
    pass


class TestThing:
    """Doc."""

    def setup_method(self):
        pass

    def test_one(self):
        pass

    class TestInner:
        def test_two(self):
            pass


class Base(unittest.TestCase):
    def test_base(self):
        pass


class Derived(Base):
    def test_derived(self):
        pass

    def check(self):
        pass


class TestWithInit:
    def __init__(self):
        pass

    def test_not_collected(self):
        pass


class Plain:
    def test_not_collected(self):
        pass
'''

CODE = '''\
"""Module."""
LIMIT = 3


def area(w, h):
    """Area.

    >>> area(2, 3)
    6
    """
    def inner():
        """Inner."""
        return w * h
    return inner()


class Box:
    """A box.

    >>> Box(1).w
    1
    """

    def __init__(self, w):
        self.w = w

    @property
    def size(self):
        return self.w


class Bare:
    x = 1


def test_drive(car):
    return car
'''
