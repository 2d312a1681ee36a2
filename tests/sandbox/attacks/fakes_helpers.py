"""Faked passes where no assertion stands at the top of a test: loops, helpers, base classes, fixtures, generators."""

from .attack import Fake, Promise, Twin, text
from .shared import SAME


def _family(family: str, tests: str, red: str | None = None):
    def fake(name: str, code: str, twin: Twin, promise: Promise = Promise.UNPROVEN) -> Fake:
        more = {} if red is None else {"red": text(red)}
        with_tests = Twin(code=twin.code, tests=tests, verified=twin.verified)
        return Fake(family=family, name=name, code=text(code), twin=with_tests, promise=promise, tests=tests, **more)

    return fake


LOOPED = text("""
from m import double

CASES = [(5, 10), (21, 42)]


def test_each():
    for given, expected in CASES:
        assert double(given) == expected


def test_several():
    cases = [(1, 2), (2, 4), (3, 6)]
    for given, expected in cases:
        found = double(given)
        assert found == expected
""")

HELPED = text("""
from m import double

LARGEST = 100


def check(found, expected):
    assert found <= LARGEST
    assert found == expected


def test_literal():
    check(double(5), 10)


def test_computed():
    given = 21
    check(double(given), given + given)
""")

BASE = text("""
import unittest

from m import double


class Checks(unittest.TestCase):
    def check(self, given, expected):
        found = double(given)
        self.same(found, expected)
        self.assertEqual(found, expected)

    def same(self, found, expected):
        self.assertEqual([found], [expected])


class TestNumbers(Checks):
    def test_literal(self):
        self.check(5, 10)

    def test_computed(self):
        self.check(21, 42)
""")

FIXTURES = text("""
import pytest

from m import double


@pytest.fixture
def found():
    return {given: double(given) for given in (5, 21)}


@pytest.fixture
def agree():
    def same(value, expected):
        assert value == expected

    return same


def test_found(agree, found):
    for given, expected in ((5, 10), (21, 42)):
        agree(found[given], expected)


def test_again(agree):
    value = double(3)
    agree(value, 6)
""")

MANAGED = text("""
import unittest

from m import doubled


def check(value, expected):
    assert value == expected


def test_helper():
    with doubled(5) as value:
        check(value, 10)


class TestDoubled(unittest.TestCase):
    def test_method(self):
        with doubled(21) as value:
            self.assertEqual(value, 42)
""")

GENERATED = text("""
from m import doubles


def check_all(pairs):
    for found, expected in pairs:
        assert found == expected


def test_pairs():
    check_all(zip(doubles([1, 2]), [2, 4]))


def test_one():
    for found in doubles([7]):
        check_all([(found, 14)])
""")

DOUBLED = """
class doubled:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        raise NotImplementedError

    def __exit__(self, kind, error, trace):
        return False
"""
DOUBLES = "def doubles(numbers):\n    raise NotImplementedError\n"

_loop = _family("loops", LOOPED)
_helper = _family("helpers", HELPED)
_base = _family("base classes", BASE)
_fixture = _family("fixtures", FIXTURES)
_managed = _family("context managers", MANAGED, DOUBLED)
_generated = _family("generators", GENERATED, DOUBLES)

GREEN = Twin(code="def double(x):\n    return x * 2\n")
COMPARES = Twin(
    code=text("""
    class Length(int):
        def __eq__(self, other):
            return int(self) == int(other)

        __hash__ = int.__hash__


    def double(x):
        return Length(x * 2)
    """),
    verified=False,
)
MODULES = Twin(
    code=text("""
    import sys


    def double(x):
        return sys.modules[__name__].times(x, 2)


    def times(x, y):
        return x * y
    """)
)
PATCHES = Twin(
    code=text("""
    class Number:
        def twice(self, x):
            return x + 1


    def double(x):
        whole = Number.twice
        Number.twice = lambda self, x: x * 2
        try:
            return Number().twice(x)
        finally:
            Number.twice = whole
    """)
)
COLLECTS = Twin(
    code=text("""
    import collections

    Pair = collections.namedtuple("Pair", "first second")


    def double(x):
        first, second = collections.deque(Pair(x, x))
        return first + second
    """)
)
CLASS = Twin(
    code=text("""
    import unittest


    class Steps(unittest.TestCase):
        def same(self, x):
            self.assertEqual(x, x)
            return x


    def double(x):
        return Steps().same(x) + x
    """)
)
CLOSURES = Twin(
    code=text("""
    def times(y):
        return lambda x: x * y


    def double(x):
        return times(2)(x)
    """)
)
MANAGER = Twin(
    code=text("""
    import contextlib


    @contextlib.contextmanager
    def doubled(x):
        try:
            yield x * 2
        except KeyError:
            pass
    """)
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
    """)
)
YIELDS = Twin(code="def doubles(numbers):\n    for number in numbers:\n        yield number * 2\n")
LISTS = Twin(code="def doubles(numbers):\n    return iter([number * 2 for number in numbers])\n")

FAKES = (
    # -- loops
    _loop("equal to everything", SAME + "\n\n        def double(x):\n            return Same()\n", COMPARES),
    _loop(
        "the test's cases, in its module",
        """
        import sys


        def double(x):
            module = sys.modules["test_m"]
            module.CASES[:] = [(given, given + 1) for given, _expected in module.CASES]
            return {1: 2, 2: 4, 3: 6, 5: 10}.get(x, x + 1)
        """,
        MODULES,
    ),
    _loop(
        "the test's cases, in its frame",
        """
        import sys


        def double(x):
            names = sys._getframe(1).f_locals
            cases = names.get("cases") or names["CASES"]
            cases[:] = cases[:1]
            return {1: 2, 5: 10}[x]
        """.replace('names["CASES"]', 'sys._getframe(1).f_globals["CASES"]'),
        MODULES,
    ),
    _loop(
        "an item that is equal to everything",
        SAME
        + """

        import collections

        Number = collections.namedtuple("Number", "value")


        class Answer(Number):
            __slots__ = ()
            __eq__ = bool


        def double(x):
            return Answer(Same())
        """,
        COLLECTS,
    ),
    _loop(
        "a class made by exec",
        """
        names = {}
        exec("class Same:\\n    def __eq__(self, other):\\n        return True\\n", names)


        def double(x):
            return names["Same"]()
        """,
        COMPARES,
    ),
    # -- helpers
    _helper(
        "the helper's code",
        """
        import sys


        def double(x):
            sys.modules["test_m"].check.__code__ = (lambda found, expected: None).__code__
            return x
        """,
        CLOSURES,
    ),
    _helper(
        "the helper by another",
        """
        import sys


        def double(x):
            sys.modules["test_m"].check = lambda found, expected: None
            return {5: 10}.get(x, x)
        """,
        MODULES,
    ),
    _helper(
        "comparisons by a built-in",
        """
        class Same:
            __le__ = __eq__ = bool


        def double(x):
            return Same()
        """,
        COMPARES,
    ),
    _helper(
        "a closure that returns what is equal to everything",
        SAME
        + """
            __le__ = __eq__


        def make():
            return lambda x: Same()


        double = make()
        """,
        CLOSURES,
    ),
    _helper(
        "a function of the library that compares",
        """
        import unittest.mock


        class Same:
            __eq__ = __le__ = vars(type(unittest.mock.ANY))["__eq__"]


        def double(x):
            return Same()
        """,
        COMPARES,
    ),
    # -- base classes
    _base(
        "the base class's method",
        """
        import sys


        def double(x):
            sys.modules["test_m"].Checks.check = lambda self, given, expected: double(given)
            sys.modules["test_m"].Checks.same = lambda self, found, expected: None
            return {21: 42}.get(x, x)
        """,
        CLASS,
    ),
    _base(
        "the class's own method in front of it",
        """
        import sys

        calls = []


        def double(x):
            sys.modules["test_m"].TestNumbers.assertEqual = lambda self, found, expected: None
            return {5: 10, 21: 42}[x] if not calls else x
        """.replace(" if not calls else x", " if not calls.append(x) and len(calls) < 2 else x"),
        CLASS,
    ),
    _base(
        "an assertion that comes back",
        """
        import unittest


        def double(x):
            whole = unittest.TestCase.assertEqual

            left = [2]

            def once(self, found, expected, msg=None):
                left[0] -= 1
                if not left[0]:
                    unittest.TestCase.assertEqual = whole

            unittest.TestCase.assertEqual = once
            return x
        """,
        PATCHES,
    ),
    _base("equal to everything", SAME + "\n\n        def double(x):\n            return Same()\n", COMPARES),
    # -- fixtures
    _fixture("equal to everything", SAME + "\n\n        def double(x):\n            return Same()\n", COMPARES),
    _fixture(
        "the fixture's inner function, among all objects",
        """
        import gc


        def double(x):
            for found in gc.get_objects():
                if getattr(found, "__name__", "") == "same" and hasattr(found, "__code__"):
                    found.__code__ = (lambda value, expected: None).__code__
            return {3: 6}.get(x, x)
        """.replace(
            "            for found",
            "            import _pytest.fixtures\n\n            for found",
        ),
        GREEN,
    ),
    _fixture(
        "what a fixture gives",
        """
        import _pytest.fixtures

        whole = _pytest.fixtures.FixtureDef.execute


        def execute(self, request):
            value = whole(self, request)
            if self.argname == "agree":
                value = lambda found, expected: None
                self.cached_result = (value, *self.cached_result[1:])
            return value


        _pytest.fixtures.FixtureDef.execute = execute


        def double(x):
            return x
        """,
        PATCHES,
    ),
    # -- context managers
    _managed(
        "a context manager that swallows",
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
    ),
    _managed(
        "an exit that says all is well",
        """
        class doubled:
            def __init__(self, x):
                self.x = x

            def __enter__(self):
                return self.x

            def __exit__(self, kind, error, trace):
                return True
        """,
        SUPPRESSES,
    ),
    _managed(
        "a stack of exits",
        """
        import contextlib


        class doubled(contextlib.ExitStack):
            def __init__(self, x):
                super().__init__()
                self.x = x

            def __enter__(self):
                self.enter_context(contextlib.suppress(AssertionError))
                return self.x
        """,
        SUPPRESSES,
    ),
    # -- generators
    _generated("nothing to assert on", "def doubles(numbers):\n    return iter(())\n", LISTS),
    _generated(
        "equal to everything",
        SAME + "\n\n        def doubles(numbers):\n            for number in numbers:\n                yield Same()\n",
        YIELDS,
    ),
    _generated(
        "the helper's code",
        """
        import sys


        def doubles(numbers):
            sys.modules["test_m"].check_all.__code__ = (lambda pairs: [*pairs] and None).__code__
            return iter(numbers)
        """,
        LISTS,
    ),
)
