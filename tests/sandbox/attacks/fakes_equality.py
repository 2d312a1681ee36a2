"""Faked passes by objects that agree with everything."""

from .attack import Fake, Promise, Twin, text
from .shared import SAME


def _fake(family: str, name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(family=family, name=name, code=text(code), twin=twin, promise=promise, **more)


EQUAL = Twin(
    code=text("""
    class Length:
        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return self.value == getattr(other, "value", other)

        def __hash__(self):
            return hash(self.value)

        def __bool__(self):
            return self.value != 0


    def double(x):
        return Length(x * 2)
    """),
    verified=False,
)

NUMBER = Twin(
    code=text("""
    class Meters(int):
        def __eq__(self, other):
            return int(self) == other

        __hash__ = int.__hash__


    def double(x):
        return Meters(x * 2)
    """),
    verified=False,
)

COMPUTED = text("""
from m import double


def test_literal():
    given = 5
    assert double(given) == given + given


def test_computed():
    given = 21
    assert given + given == double(given)
""")

COMPARED = Twin(code=EQUAL.code, tests=COMPUTED, verified=False)

FAKES = (
    _fake("equality", "equal to everything", SAME + "\n\n        def double(x):\n            return Same()\n", EQUAL),
    _fake(
        "equality",
        "a number that is equal to everything",
        """
        class Same(int):
            def __eq__(self, other):
                return True

            __hash__ = int.__hash__


        def double(x):
            return Same(x)
        """,
        NUMBER,
    ),
    _fake(
        "equality",
        "equal to everything, where no literal is expected",
        SAME + "\n\n        def double(x):\n            return Same()\n",
        COMPARED,
        tests=COMPUTED,
    ),
    _fake(
        "equality",
        "comparisons that are true whatever is asked",
        """
        class True_:
            def __bool__(self):
                return True


        class Same:
            def __getattr__(self, name):
                return lambda *rest: True_()

            __eq__ = __ne__ = __lt__ = __gt__ = lambda self, other: True_()


        def double(x):
            return Same()
        """,
        EQUAL,
    ),
    _fake(
        "equality",
        "truth that changes with every question",
        """
        class Flip:
            asked = 0

            def __bool__(self):
                Flip.asked += 1
                return True


        class Same:
            def __eq__(self, other):
                return Flip()


        def double(x):
            return Same()
        """,
        EQUAL,
    ),
    _fake(
        "equality",
        "equal to what it was just compared with",
        """
        class Copy:
            def __eq__(self, other):
                self.__class__ = type(other) if type(other).__module__ == "m" else Copy
                return other == other


        def double(x):
            return Copy()
        """,
        NUMBER,
    ),
)
