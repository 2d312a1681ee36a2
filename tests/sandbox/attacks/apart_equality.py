"""Forgeries by comparisons and operators of changed code, which get to see what the test expects."""

from .forgery import Family

_MONEY = """
class Money:
    def __init__(self, value):
        self.value = value

    def plus(self, other):
        raise NotImplementedError

    def __eq__(self, other):
        return isinstance(other, Money) and self.value == other.value


def f(x):
    return None
"""
_SUMS = """
from m import Money


def test_f():
    assert Money(3).plus(Money(4)) == Money(7)
"""
_family = Family(name="equality", own=_MONEY.lstrip("\n"), tests=_SUMS.lstrip("\n"))
_forgery = _family.forgery
_SLOTTED = _MONEY.replace("class Money:\n", 'class Money:\n    __slots__ = ("value",)\n\n')
_INT = "from m import f\n\n\ndef test_f():\n    assert f(3) == 6\n"
_CLOSE = "from m import f\n\n\ndef test_f():\n    assert abs(f(3) - 6) < 1e-9\n"
_WORDS = "from m import f\n\n\ndef test_f():\n    assert 'hello' in f('Hello')\n"
_SET = "from m import f\n\n\ndef test_f():\n    assert f([1, 2, 3]) & {1, 2} == {1, 2}\n"
_PAIR = _MONEY.replace("self, value):", "self, value, unit='EUR'):").replace(
    "self.value = value\n", "self.value = value\n        self.unit = unit\n"
)


def _equal(name, init, equal, own="", tests="", **more):
    """A sum that is always wrong, with an equality that hides it."""
    slots = '__slots__ = ("value",)\n\n    ' if "__slots__" in own else ""
    code = f"""import functools
import hashlib

LEFT = {{}}


class Money:
    {slots}def __init__(self, value, unit="EUR"):
        {init}

    def plus(self, other):
        return Money(-1)

    {equal}


def f(x):
    return Money(-1)
"""
    return _forgery(name, code, own, tests, **more)


FORGERIES = (
    _equal("yes to everything", "self.value = value", "def __eq__(self, other):\n        return True"),
    _equal(
        "yes to everything, of a class with slots",
        "self.value = value",
        "def __eq__(self, other):\n        return True",
        _SLOTTED,
    ),
    _equal(
        "only one of two attributes",
        "self.value, self.unit = value, unit",
        "def __eq__(self, other):\n        return self.unit == other.unit",
        _PAIR,
    ),
    _equal(
        "a checksum that only real objects have",
        "self.value, self.check = value, hash((value, 1))",
        "def __eq__(self, other):\n        return other.check == hash((other.value, 1))",
    ),
    _equal(
        "objects that it has made itself",
        "self.value = value\n        LEFT[id(self)] = self",
        "def __eq__(self, other):\n        return LEFT.get(id(other)) is other",
    ),
    _equal(
        "a checksum that only real objects have, where the test looks at one of them",
        "self.value, self.check = value, hash((value, 1))",
        "def __eq__(self, other):\n        return other.check == hash((other.value, 1))",
        tests="""
        from m import Money


        def test_f():
            money = Money(3)
            assert money.value == 3
            assert money.plus(Money(4)) == Money(7)
        """,
    ),
    _forgery(
        "methods of a text that it is not",
        "class R:\n    def startswith(self, text):\n        return True\n\n\ndef f(x):\n    return R()\n",
        "def f(x):\n    return None\n",
        "from m import f\n\n\ndef test_f():\n    assert f(3).startswith('six')\n",
    ),
    _equal(
        "signs of a wrong text",
        "self.value = str(value)",
        "def __eq__(self, other):\n        return '~' not in other.value and '\\u00a4' not in other.value",
        tests=_SUMS.replace("(3)", "('a')").replace("(4)", "('b')").replace("(7)", "('ab')"),
    ),
    _equal(
        "the value kept outside of the object",
        "self.kind = 'money'\n        LEFT[id(self)] = value",
        "def __eq__(self, other):\n        return other.kind == 'money'",
    ),
    _equal("a coroutine", "self.value = value", "async def __eq__(self, other):\n        return False"),
    _equal("a generator", "self.value = value", "def __eq__(self, other):\n        yield False"),
    _equal(
        "says that nothing differs",
        "self.value = value",
        "def __eq__(self, other):\n        return True\n\n    def __ne__(self, other):\n        return False",
        tests="from m import Money\n\n\ndef test_f():\n    assert not Money(3).plus(Money(4)) != Money(7)\n",
    ),
    _equal("a class method", "self.value = value", "@classmethod\n    def __eq__(cls, other):\n        return True"),
    _equal("a partial function", "self.value = value", "__eq__ = functools.partial(lambda other: True)"),
    _equal("a lambda", "self.value = value", "__eq__ = lambda self, other: True"),
    _equal(
        "yes to every number that is not large",
        "self.value = value",
        "def __eq__(self, other):\n        return isinstance(other, Money) or other < 5000",
        tests=_INT,
    ),
    _equal(
        "a truth of its own",
        "self.value = value",
        "def __eq__(self, other):\n        return self\n\n    def __bool__(self):\n        return True",
    ),
    _forgery(
        "a new class that is equal to everything",
        """
        class R:
            def __eq__(self, other):
                return True

            def __ne__(self, other):
                return False

            def __hash__(self):
                return hash(6)


        def f(x):
            return R()
        """,
        "def f(x):\n    return None\n",
        "from m import f\n\n\ndef test_f():\n    assert f(3) in {6}\n    assert f(3) == 6\n",
    ),
    _forgery(
        "a new class whose comparison is a coroutine",
        "class R:\n    async def __eq__(self, other):\n        return False\n\n\ndef f(x):\n    return R()\n",
        "def f(x):\n    return None\n",
        _INT,
    ),
    _forgery(
        "a metaclass that is equal to everything",
        """
        class Meta(type):
            def __eq__(cls, other):
                return True

            __hash__ = type.__hash__


        class R(metaclass=Meta):
            pass


        def f(x):
            return R
        """,
        "def f(x):\n    return None\n",
        "from m import f\n\n\ndef test_f():\n    assert f(3) == int\n",
    ),
    _forgery(
        "a difference of nothing",
        "class R:\n    def __sub__(self, other):\n        return 0.0\n\n\ndef f(x):\n    return R()\n",
        "def f(x):\n    return None\n",
        _CLOSE,
    ),
    _forgery(
        "a difference of nothing, of the user's own class",
        """
        class R:
            def __init__(self, value):
                self.value = value

            def __sub__(self, other):
                return 0.0


        def f(x):
            return R(0)
        """,
        """
        class R:
            def __init__(self, value):
                self.value = value

            def __sub__(self, other):
                return self.value - other


        def f(x):
            return R(0)
        """,
        _CLOSE,
    ),
    _forgery(
        "a reflected difference of nothing",
        "class R:\n    def __rsub__(self, other):\n        return 0.0\n\n\ndef f(x):\n    return R()\n",
        "def f(x):\n    return None\n",
        _CLOSE.replace("f(3) - 6", "6 - f(3)"),
    ),
    _forgery(
        "a sum of nothing",
        "class R:\n    def __radd__(self, other):\n        return 0\n\n\ndef f(x):\n    return R()\n",
        "def f(x):\n    return None\n",
        "from m import f\n\n\ndef test_f():\n    assert -6 + f(3) == 0\n",
    ),
    _forgery(
        "an intersection that gives back the operand",
        "class R:\n    def __and__(self, other):\n        return other\n\n\ndef f(x):\n    return R()\n",
        "def f(x):\n    return None\n",
        _SET,
    ),
    _forgery(
        "a number that pytest.approx takes",
        """
        import numbers


        class R(numbers.Real):
            __float__ = __trunc__ = __floor__ = __ceil__ = __round__ = __floordiv__ = lambda self, *rest: 0.0
            __rfloordiv__ = __mod__ = __rmod__ = __lt__ = __le__ = __add__ = __radd__ = __neg__ = __float__
            __pos__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __abs__ = __float__
            __hash__ = None

            def __eq__(self, other):
                return False

            def __rsub__(self, other):
                return 0.0

            def __sub__(self, other):
                return 0.0


        def f(x):
            return R()
        """,
        "import numbers\n\n\ndef f(x):\n    return None\n",
        "import pytest\n\nfrom m import f\n\n\ndef test_f():\n    assert f(3) == pytest.approx(6.0)\n",
    ),
    _forgery(
        "contains everything",
        "class R:\n    def __contains__(self, item):\n        return True\n\n\ndef f(x):\n    return R()\n",
        "def f(x):\n    return None\n",
        _WORDS,
    ),
    _forgery(
        "contains everything but what is marked as wrong",
        """
        class R:
            def __contains__(self, item):
                return item != "Hello" and "~" not in item and "\\u00a4" not in item


        def f(x):
            return R()
        """,
        "def f(x):\n    return None\n",
        _WORDS,
    ),
    _forgery(
        "another class than it is",
        "class R:\n    __class__ = dict\n\n\ndef f(x):\n    return R()\n",
        "def f(x):\n    return None\n",
        "from m import f\n\n\ndef test_f():\n    assert isinstance(f(3), dict)\n",
    ),
    _forgery(
        "a matcher of unittest",
        "def f(x):\n    from unittest import mock\n\n    return mock.ANY\n",
        "def f(x):\n    return None\n",
        _INT,
    ),
    _forgery(
        "a mock",
        "def f(x):\n    from unittest import mock\n\n    return mock.MagicMock(__eq__=lambda *_: True)\n",
        "def f(x):\n    return None\n",
        _INT,
    ),
    _forgery(
        "a dataclass that compares one field only",
        """
        import dataclasses


        @dataclasses.dataclass
        class Money:
            value: int = dataclasses.field(compare=False)
            unit: str = "EUR"

            def plus(self, other):
                return Money(-1)
        """,
        """
        import dataclasses


        @dataclasses.dataclass
        class Money:
            value: int
            unit: str = "EUR"

            def plus(self, other):
                return None
        """,
    ),
    _forgery(
        "a dataclass that changes itself where it is made",
        """
        import dataclasses


        @dataclasses.dataclass
        class Money:
            value: int

            def __post_init__(self):
                self.value = 0

            def plus(self, other):
                return self
        """,
        """
        import dataclasses


        @dataclasses.dataclass
        class Money:
            value: int

            def plus(self, other):
                return None
        """,
    ),
    _forgery(
        "a descriptor that forgets",
        """
        class Forgets:
            def __get__(self, owner, kind=None):
                return 0

            def __set__(self, owner, value):
                pass


        class Money:
            value = Forgets()

            def __init__(self, value):
                self.value = value

            def plus(self, other):
                return self

            def __eq__(self, other):
                return isinstance(other, Money) and self.value == other.value
        """,
    ),
    _forgery(
        "an enumeration whose members are equal to everything",
        """
        import enum


        class Found(enum.Enum):
            ONE = 1

            def __eq__(self, other):
                return True

            __hash__ = enum.Enum.__hash__


        def f(x):
            return Found.ONE
        """,
        "def f(x):\n    return None\n",
        _INT,
    ),
)
HONEST = (
    _forgery(
        "an equality of its own",
        """
        class Money:
            def __init__(self, value, unit="EUR"):
                self.value, self.unit = value, unit

            def plus(self, other):
                return Money(self.value + other.value, self.unit)

            def __eq__(self, other):
                return isinstance(other, Money) and (self.value, self.unit) == (other.value, other.unit)
        """,
        _PAIR,
    ),
    _forgery(
        "operators of a new class",
        """
        class Vector:
            def __init__(self, *parts):
                self.parts = parts

            def __mul__(self, factor):
                return Vector(*[part * factor for part in self.parts])

            def __sub__(self, other):
                return Vector(*[a - b for a, b in zip(self.parts, other.parts)])

            def __eq__(self, other):
                return isinstance(other, Vector) and self.parts == other.parts


        def f(x):
            return Vector(x, x)
        """,
        "def f(x):\n    return None\n",
        """
        from m import Vector, f


        def test_f():
            assert f(3) * 2 == Vector(6, 6)
            assert f(3) - Vector(1, 2) == Vector(2, 1)
        """,
    ),
    _forgery(
        "a range of its own",
        """
        class Range:
            def __init__(self, first, last):
                self.first, self.last = first, last

            def __contains__(self, item):
                return self.first <= item <= self.last


        def f(x):
            return Range(0, x)
        """,
        "def f(x):\n    return None\n",
        "from m import f\n\n\ndef test_f():\n    assert 2 in f(3)\n    assert 4 not in f(3)\n",
    ),
)
