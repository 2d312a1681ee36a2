"""What cannot be copied: handles, functions of the tests, and mirrors of classes that the other side does not have."""

from __future__ import annotations

import enum
import inspect

from two_sides import conversation

SECRET = "10 is what is asked for"


def given(a, /, b, *rest, c=SECRET, **more):
    """Says what it was given."""
    return [a, b, list(rest), c, more]


def test_a_function_of_the_tests_keeps_its_outside_and_nothing_else_crosses():
    seen = []

    def call(function):
        seen.append(function)
        return function(1, 2, 3, d=4)

    with conversation(call=call) as judge:
        assert judge.ask("call", given) == [1, 2, [3], SECRET, {"d": 4}]
    (function,) = seen
    assert function is not given
    assert str(inspect.signature(function)) == str(inspect.signature(given))
    assert (function.__defaults__, function.__kwdefaults__) == (given.__defaults__, given.__kwdefaults__)
    assert (function.__name__, function.__doc__) == ("given", given.__doc__)
    assert "SECRET" not in function.__globals__
    assert function.__code__.co_consts != given.__code__.co_consts


def test_an_object_of_the_tests_is_asked_in_the_judge():
    class Double:
        def __init__(self, factor):
            self.factor = factor

        def times(self, x):
            return self.factor * x

    double = Double(3)
    with conversation(call=lambda each: (each.times(2), each.factor, type(each).__name__)) as judge:
        assert judge.ask("call", double) == (6, 3, "Double")


def test_a_class_that_the_code_has_made_is_a_mirror():
    class Account:
        rate = 2

        def __init__(self, owner):
            self.owner = owner

        def paid(self, amount):
            self.total = amount * self.rate
            return self

        def __repr__(self):
            return f"<{self.owner}>"

    with conversation(make=lambda: Account("ada")) as judge:
        account = judge.ask("make")
        assert type(account) is not Account
        assert (type(account).__name__, account.owner, repr(account)) == ("Account", "ada", "<ada>")
        assert account.paid(3) is account
        assert vars(account) == {"owner": "ada", "total": 6}


def test_special_methods_that_decide_how_the_judge_looks_at_an_object_stay_behind():
    class Liar:
        def __getattribute__(self, name):
            return 10 if name == "value" else object.__getattribute__(self, name)

        def __getattr__(self, name):
            return 10

        def __reduce__(self):
            return int, (10,)

        @property
        def __class__(self):
            return int

    with conversation(make=Liar) as judge:
        made = judge.ask("make")
        assert not isinstance(made, int)
        assert not hasattr(made, "value")


def test_an_enumeration_that_the_code_has_made_is_one_in_the_judge():
    class Level(enum.IntEnum):
        LOW = 1
        HIGH = 2

    with conversation(make=lambda: [Level.LOW, Level.HIGH]) as judge:
        low, high = judge.ask("make")
        assert (low.name, low.value, low < high, isinstance(low, enum.IntEnum)) == ("LOW", 1, True, True)
        assert type(low) is not Level
