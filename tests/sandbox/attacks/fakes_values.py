"""Faked passes by values: objects that agree with everything, a changed world, and tests that were read."""

from .nouns import Fake, Promise, Twin, text


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
    """)
)
NUMBER = Twin(
    code=text("""
    class Meters(int):
        def __eq__(self, other):
            return int(self) == other

        __hash__ = int.__hash__


    def double(x):
        return Meters(x * 2)
    """)
)
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
TABLE = Twin(code="TABLE = {number: number * 2 for number in range(100)}\n\n\ndef double(x):\n    return TABLE[x]\n")
READS = Twin(
    code=text("""
    import inspect
    import os


    def double(x):
        with open(os.path.abspath(__file__)) as stream:
            assert "def double" in stream.read()
        return x * len(inspect.getsource(pair).split()[-2:])


    def pair(a, b):
        return a, b
    """)
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
COMPUTED = text("""
from m import double


def test_literal():
    given = 5
    assert double(given) == given + given


def test_computed():
    given = 21
    assert given + given == double(given)
""")
COMPARED = Twin(code=EQUAL.code, tests=COMPUTED)

_SAME = """
        class Same:
            def __eq__(self, other):
                return True

            def __ne__(self, other):
                return False
"""

FAKES = (
    _fake("equality", "equal to everything", _SAME + "\n\n        def double(x):\n            return Same()\n", EQUAL),
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
        _SAME + "\n\n        def double(x):\n            return Same()\n",
        COMPARED,
        Promise.DOCUMENTED,
        tests=COMPUTED,
        documented="no literal",
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
        Promise.DOCUMENTED,
        tests=SUMS,
        documented="replace what the tests themselves use",
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
        Promise.DOCUMENTED,
        tests=TIMED,
        documented="replace what the tests themselves use",
    ),
    _fake(
        "read tests",
        "expected values as a table",
        "def double(x):\n            return {5: 10, 21: 42}[x]\n".replace("            ", "    "),
        TABLE,
        Promise.DOCUMENTED,
        documented="hard-coded",
    ),
    _fake(
        "read tests",
        "the expected literal, read from the caller's line",
        """
        import ast
        import linecache
        import sys


        def double(x):
            frame = sys._getframe(1)
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
            compare = next(node for node in ast.walk(ast.parse(line.strip())) if isinstance(node, ast.Compare))
            return eval(compile(ast.Expression(compare.comparators[0]), "x", "eval"), frame.f_globals, frame.f_locals)
        """,
        READS,
    ),
    _fake(
        "read tests",
        "the expected literal, read from the file",
        """
        import re


        def double(x):
            found = re.search(r"double\\(%d\\)\\)? == \\(?(\\d+)" % x, open("test_m.py").read())
            return int(found.group(1)) if found else 2 * x
        """,
        READS,
    ),
    _fake(
        "read tests",
        "whether the assertion is turned round, answered accordingly",
        """
        import linecache
        import sys


        class Same:
            def __init__(self, answer):
                self.answer = answer

            def __eq__(self, other):
                return self.answer


        def double(x):
            frame = sys._getframe(1)
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
            return Same("not (not" in line or "not (" not in line)
        """,
        READS,
    ),
    _fake(
        "read tests",
        "by one who knows how the twins are made",
        """
        class Same:
            def __eq__(self, other):
                return not (isinstance(other, int) and other > 7919)


        def double(x):
            return Same()
        """,
        READS,
        Promise.DOCUMENTED,
        documented="knows this scheme",
    ),
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
        Promise.DOCUMENTED,
        tests=MANAGED,
        documented="loops and blocks",
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
        Promise.DOCUMENTED,
        tests=MANAGED,
        documented="loops and blocks",
    ),
    _fake(
        "blocks",
        "a generator that yields nothing to assert on",
        "def doubles(numbers):\n    return iter(())\n",
        GENERATOR,
        Promise.DOCUMENTED,
        tests=LOOPED,
        documented="loops and blocks",
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
        _SAME
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
