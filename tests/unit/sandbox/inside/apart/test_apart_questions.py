"""Comparisons and operators are asked again with wrong operands."""

from __future__ import annotations

import types
from decimal import Decimal

import pytest

from two_sides import ROOT, apart

questions = apart["apart_questions"]


class Asking(questions.Questions):
    """The questions of a judge that knows these objects of the code."""

    tag, other_tag = "j", "c"

    def __init__(self, *of_the_code: object):
        self.numbers = {id(each): "c1" for each in of_the_code}
        self._seen, self._wrong, self._rivals, self._looks = [], "", {}, 0
        self._record = apart["apart_evidence"].CaseRecord()
        self.rules = types.SimpleNamespace(root=ROOT + "/")

    def given(self, _kind, value):
        return value

    @property
    def reason(self) -> str:
        return self._record.unfit


@pytest.mark.parametrize(
    ("name", "operand", "answer"),
    [
        ("__sub__", 6, 0),
        ("__sub__", Decimal(6), Decimal(0)),
        ("__truediv__", 6, 1),
        ("__mod__", 6, 0),
        ("__sub__", {"a"}, set()),
    ],
)
def test_an_operator_that_does_not_look_is_noticed(name, operand, answer):
    asking = Asking()
    assert asking.operate("Area", name, (object(), operand), lambda _args: answer) == answer
    assert "same for wrong values" in asking.reason


@pytest.mark.parametrize(
    ("name", "operand", "ask"),
    [
        ("__sub__", 6, lambda args: 9 - args[1]),
        ("__truediv__", 6, lambda args: 12 / args[1]),
        ("__mod__", 2, lambda args: 4 % args[1]),
        ("__sub__", {"a"}, lambda args: {"a"} - args[1]),
    ],
)
def test_one_that_looks_is_not(name, operand, ask):
    asking = Asking()
    asking.operate("Area", name, (object(), operand), ask)
    assert not asking.reason


@pytest.mark.parametrize("looks", [True, False])
def test_an_object_that_is_made_of_wrong_operands_has_another_number(looks):
    asking = Asking()

    class Difference:
        def __init__(self, value):
            self.value = value

    found = asking.operate("Area", "__sub__", (object(), 6), lambda args: Difference(9 - args[1]))
    asking.operate("Difference", "__abs__", (found,), lambda args: abs(args[0].value) if looks else 0)
    assert bool(asking.reason) is not looks


class Length:
    """An equality of the user's own, which an object can widen."""

    def __init__(self, metres, tolerance=0.0):
        self.metres, self.tolerance = metres, tolerance

    def __eq__(self, other):
        return abs(self.metres - other.metres) <= max(self.tolerance, other.tolerance)

    __hash__ = None


class Token:
    """An equality by class alone."""

    def __init__(self, line):
        self.line = line

    def __eq__(self, other):
        return type(self) is type(other)

    __hash__ = None


@pytest.mark.parametrize(
    ("of_code", "of_test", "is_doubtful"),
    [
        (Length(0, 1e9), Length(3), True),
        (Length(3), Length(3), False),
        (Token(1), Token(2), False),
    ],
)
def test_an_object_of_the_code_is_not_equal_to_all(of_code, of_test, is_doubtful):
    for pair in ((of_code, of_test), (of_test, of_code)):
        asking = Asking(of_code)
        asking.numbers[id(of_test)] = "j1"  # the code has met it
        asking.watch_equality(type(of_code))
        assert pair[0] == pair[1]
        assert bool(asking.reason) is is_doubtful


class Span:
    """A difference that the scale of either may make nothing, and that a limit may."""

    def __init__(self, metres, scale=1, least=None):
        self.metres, self.scale, self.least = metres, scale, least

    def __sub__(self, other):
        found = (self.metres - other.metres) * self.scale
        return Span(found if self.least is None else max(found, self.least))


@pytest.mark.parametrize(("of_code", "is_doubtful"), [(Span(3, 0), True), (Span(3), False), (Span(3, 1, 0), False)])
def test_a_difference_of_an_object_of_the_code_is_not_always_the_same(of_code, is_doubtful):
    asking = Asking(of_code)
    asking.watch_equality(Span)
    assert (of_code - Span(4)).scale == 1
    assert bool(asking.reason) is is_doubtful


class Letters:
    """Holds half of the lower-case letters."""

    def __init__(self) -> None:
        self.held = list("abcdefghijklm")


@pytest.mark.parametrize(("says_yes", "is_noticed"), [(lambda args: args[1] in args[0].held, False), (bool, True)])
def test_a_short_wrong_text_that_is_contained_by_chance_accuses_nobody(says_yes, is_noticed):
    asking = Asking()
    asking.compare("Letters", "__contains__", (Letters(), "b"), says_yes, False)
    assert ("same of wrong values" in asking.reason) is is_noticed
