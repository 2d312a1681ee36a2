"""Special methods that a test needs, by what Python itself says of each use."""

from __future__ import annotations

import copy

import pytest

from greenloop.plugins.repairs.stubs import missing_special_methods
from greenloop_sandbox import Failure


class Point:
    pass


class Plain:
    __hash__ = None


def use(code):
    """The failure of code that uses a class without methods."""
    names = {"P": Point, "Plain": Plain, "p": Point(), "copy": copy}
    try:
        exec(code, names)
    except TypeError as error:
        return Failure(type="TypeError", message=str(error))
    raise AssertionError(code)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("P(1)", [("Point", ("__init__",))]),
        ("len(p)", [("Point", ("__len__",))]),
        ("1 in p", [("Point", ("__contains__",))]),
        ("list(p)", [("Point", ("__iter__",))]),
        ("a, b = p", [("Point", ("__iter__",))]),
        ("[*p]", [("Point", ("__iter__",))]),
        ("dict(**p)", [("Point", ("keys", "__getitem__"))]),
        ("f'{p:x}'", [("Point", ("__format__",))]),
        ("next(p)", [("Point", ("__next__",))]),
        ("reversed(p)", [("Point", ("__reversed__",))]),
        ("p[0]", [("Point", ("__getitem__",))]),
        ("p[0] = 1", [("Point", ("__setitem__",))]),
        ("del p[0]", [("Point", ("__delitem__",))]),
        ("p()", [("Point", ("__call__",))]),
        ("with p: pass", [("Point", ("__enter__", "__exit__"))]),
        ("{Plain()}", [("Plain", ("__hash__",))]),
        ("int(p)", [("Point", ("__int__",))]),
        ("float(p)", [("Point", ("__float__",))]),
        ("range(p)", [("Point", ("__index__",))]),
        ("round(p)", [("Point", ("__round__",))]),
        ("abs(p)", [("Point", ("__abs__",))]),
        ("-p", [("Point", ("__neg__",))]),
        ("p + 1", [("Point", ("__add__",)), ("int", ("__radd__",))]),
        ("2 * p", [("int", ("__mul__",)), ("Point", ("__rmul__",))]),
        ("p += 1", [("Point", ("__add__",)), ("int", ("__radd__",))]),
        ("p ** 2", [("Point", ("__pow__",)), ("int", ("__rpow__",))]),
        ("p < p", [("Point", ("__lt__",))]),
        ("sorted([p, p])", [("Point", ("__lt__",))]),
        ("max(p, p)", [("Point", ("__gt__",))]),
        ("len(1, 2)", []),
        ("'a' + 1", []),
    ],
)
def test_what_python_says_of_a_missing_method(code, wanted):
    assert list(missing_special_methods(use(code), "")) == wanted


@pytest.mark.parametrize(
    ("expected", "observed", "uses", "wanted"),
    [
        ("<m.Point object at 0x7f>", "<m.Point object at 0x8f>", "assert p == Point(1, 2)", [("Point", ("__eq__",))]),
        ("<m.Point object at 0x7f>", "<m.Point object at 0x8f>", "assert Point(1) == p", [("Point", ("__eq__",))]),
        (
            "<m.Point object at 0x7f>",
            "<m.Point object at 0x8f>",
            "a.assertEqual(p, Point(1))",
            [("Point", ("__eq__",))],
        ),
        (
            "[<m.Point object at 0x7f>]",
            "[<m.f.<locals>.Point object at 0x8f>]",
            "f() == [Point(1)]",
            [("Point", ("__eq__",))],
        ),
        ("<m.Point object at 0x7f>", "<m.Point object at 0x8f>", "a = Point(1)\nassert last(a) == a", []),
        ("<m.Point object at 0x7f>", "<m.Other object at 0x8f>", "", []),
        ("'(1, 2)'", "'<m.Point object at 0x8f>'", "assert str(p) == '(1, 2)'", [("Point", ("__str__",))]),
        ("'(1, 2)'", "'<m.Point object at 0x8f>'", "assert repr(p) == '(1, 2)'", [("Point", ("__repr__",))]),
        ("None", "<m.Point object at 0x8f>", "", []),
        ("'a'", "'b'", "", []),
    ],
)
def test_values_that_have_no_form_of_their_own(expected, observed, uses, wanted):
    failure = Failure(type="AssertionError", message="", expected=expected, observed=observed)
    assert list(missing_special_methods(failure, uses)) == wanted


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("assert not <m.P object at 0x7f>\n +  where <m.P object at 0x7f> = P()", [("P", ("__bool__",))]),
        ("assert not <m.P object at 0x7f>\n +  where <m.P object at 0x7f> = find(1)", []),
        (
            "assert 2 == 1\n +  where 2 = len({<m.P object at 0x7f>, <m.P object at 0x8f>})",
            [("P", ("__eq__", "__hash__"))],
        ),
        ("assert 2 == 1\n +  where 2 = len([<m.P object at 0x7f>, <m.P object at 0x8f>])", []),
    ],
)
def test_objects_that_the_test_makes_count_as_true_and_as_different(message, wanted):
    assert list(missing_special_methods(Failure(type="AssertionError", message=message), "")) == wanted


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("Can't instantiate abstract class Square with abstract method area", ("area",)),
        ("Can't instantiate abstract class Square with abstract methods area, name", ("area", "name")),
        ("Can't instantiate abstract class Square without an implementation for abstract method 'area'", ("area",)),
        (
            "Can't instantiate abstract class Square without an implementation for abstract methods 'area', 'name'",
            ("area", "name"),
        ),
    ],
)
def test_abstract_methods_of_all_versions_of_python(message, names):
    assert list(missing_special_methods(Failure(type="TypeError", message=message), "")) == [("Square", names)]
