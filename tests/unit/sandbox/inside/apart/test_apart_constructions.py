"""Constructors of the user's own classes are watched, and one of their arguments is wrong where a run asks for it."""

from __future__ import annotations

import collections
import weakref

from two_sides import apart

constructions = apart["apart_constructions"]


def watched(kind: type, wrong: str = "", *, is_changed: bool | None = False):
    found = constructions.Constructions(wrong, lambda _: is_changed)
    assert found.watch(kind) is kind
    return found


class Base:
    def __init__(self, x, y=2):
        self.x, self.y = x, y


def test_an_object_is_known_by_the_arguments_that_can_be_wrong_at_any_depth():
    class Point(Base):
        pass

    found = watched(Point, is_changed=True)
    assert found.of([{"a": [Point(1, y=object())]}]) == ([0], True)
    assert found.of([Base(1)]) == ([], False)


def test_one_argument_is_wrong():
    class Point(Base):
        pass

    watched(Point, "operands1")
    assert (Point(1).x, Point(1).y) == (1, 2)
    assert Point(x=1, y=3).x == 1
    assert Point(1, 3).y != 3


def test_a_class_that_is_made_by_its_new_is_watched_as_well():
    class Pair(collections.namedtuple("Pair", "x y")):  # noqa: PYI024, SLOT002
        pass

    watched(Pair, "operands0")
    pair = Pair(1, 2)
    assert pair.x != 1
    assert pair.y == 2


def test_an_object_is_not_kept_alive():
    class Point(Base):
        pass

    found = watched(Point)
    point = weakref.ref(Point(1))
    assert point() is None
    assert found.of([Point(1)]) == ([0], False)


def test_a_class_of_others_stays():
    class Point(Base):
        pass

    watched(Point, is_changed=None)
    assert Point.__init__ is Base.__init__
