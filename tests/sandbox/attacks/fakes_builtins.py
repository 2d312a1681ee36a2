"""Faked passes by changing what the tests themselves use."""

from .attack import Fake, Promise, Twin, text


def _fake(family: str, name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(family=family, name=name, code=text(code), twin=twin, promise=promise, **more)


BUILTINS = Twin(
    code=text("""
    import builtins

    whole = builtins.len


    def double(x):
        builtins.len = lambda things: whole(things) + 1
        try:
            return len("." * (2 * x - 1))
        finally:
            builtins.len = whole
    """)
)

TIMED = text("""
import time

from m import double


def test_literal():
    began = time.perf_counter()
    assert double(5) == 10
    assert time.perf_counter() - began < 0.2


def test_computed():
    began = time.time()
    assert double(21) == 42
    assert time.time() - began < 0.2
""")

CLOCK = Twin(
    code=text("""
    import time


    def double(x, clock=time.perf_counter):
        began = clock()
        found = x * 2
        assert clock() >= began
        return found
    """),
    tests=text("""
    import time

    from m import double


    def test_literal(monkeypatch):
        monkeypatch.setattr(time, "time", lambda: 0.0)
        assert double(5) == 10


    def test_computed():
        ticks = iter([1.0, 2.0])
        assert double(21, clock=lambda: next(ticks)) == 42
    """),
)

SUMS = text("""
from m import total


def test_literal():
    assert total([1, 2]) == sum([1, 2])


def test_computed():
    numbers = [5, 6, 7]
    assert total(numbers) == sum(numbers)
""")

OWN_SUM = Twin(
    code="def total(numbers):\n    found = 0\n    for number in numbers:\n        found += number\n    return found\n",
    tests=SUMS,
)

FAKES = (
    _fake(
        "builtins",
        "an error nobody can raise",
        """
        import builtins
        import unittest

        builtins.AssertionError = unittest.SkipTest


        def double(x):
            return x + 1
        """,
        BUILTINS,
    ),
    _fake(
        "builtins",
        "what the tests compute with",
        """
        import builtins

        builtins.sum = lambda numbers: 0


        def total(numbers):
            return 0
        """,
        OWN_SUM,
        Promise.UNPROVEN,
        tests=SUMS,
    ),
    _fake(
        "builtins",
        "the clock",
        """
        import time

        wait = time.sleep
        time.time = time.perf_counter = time.monotonic = lambda: 0.0


        def double(x):
            wait(0.4)
            return x * 2
        """,
        CLOCK,
        Promise.UNPROVEN,
        tests=TIMED,
    ),
)
