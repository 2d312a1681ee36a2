"""Faked passes where the assertion is in a block that the code under test controls."""

from .attack import Fake, Promise, Twin, text
from .shared import SAME


def _fake(family: str, name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(family=family, name=name, code=text(code), twin=twin, promise=promise, **more)


MANAGED = text("""
from m import doubled


def test_literal():
    with doubled(5) as value:
        assert value == 10


def test_computed():
    given = 21
    with doubled(given) as value:
        assert value == given + given
""")

MANAGER = Twin(
    code=text("""
    import contextlib


    @contextlib.contextmanager
    def doubled(x):
        try:
            yield x * 2
        except KeyError:
            pass
    """),
    tests=MANAGED,
)

SUPPRESSES = Twin(
    code=text("""
    class doubled:
        def __init__(self, x):
            self.x = x

        def __enter__(self):
            return self.x * 2

        def __exit__(self, kind, error, trace):
            return kind is not None and issubclass(kind, LookupError)
    """),
    tests=MANAGED,
)

LOOPED = text("""
from m import doubles


def test_literal():
    for given, found in zip([1, 2], doubles([1, 2])):
        assert found == 2 * given


def test_computed():
    for found in doubles([7]):
        assert found == 14
""")

GENERATOR = Twin(code="def doubles(numbers):\n    for number in numbers:\n        yield number * 2\n", tests=LOOPED)

RAISED = text("""
import pytest

from m import double


def test_literal():
    assert double(5) == 10


def test_computed():
    with pytest.raises(ValueError):
        double(None)
""")

RAISES = Twin(
    code="def double(x):\n    if x is None:\n        raise ValueError('nothing')\n    return x * 2\n", tests=RAISED
)

FAKES = (
    _fake(
        "blocks",
        "a context manager that swallows the assertion",
        """
        import contextlib


        @contextlib.contextmanager
        def doubled(x):
            try:
                yield x + 1
            except BaseException:
                pass
        """,
        MANAGER,
        Promise.UNPROVEN,
        tests=MANAGED,
    ),
    _fake(
        "blocks",
        "an exit that says all is well",
        """
        class doubled:
            def __init__(self, x):
                pass

            def __enter__(self):
                return 0

            def __exit__(self, *rest):
                return True
        """,
        SUPPRESSES,
        Promise.UNPROVEN,
        tests=MANAGED,
    ),
    _fake(
        "blocks",
        "a generator that yields nothing to assert on",
        "def doubles(numbers):\n    return iter(())\n",
        GENERATOR,
        Promise.UNPROVEN,
        tests=LOOPED,
    ),
    _fake(
        "blocks",
        "a generator that ends the test when it is closed",
        """
        import os


        def doubles(numbers):
            try:
                yield 0
            finally:
                os._exit(0)
        """,
        GENERATOR,
        tests=LOOPED,
    ),
    _fake(
        "blocks",
        "an expected exception and an object that agrees",
        SAME
        + """

        def double(x):
            if x is None:
                raise ValueError
            return Same()
        """,
        RAISES,
        tests=RAISED,
    ),
)
