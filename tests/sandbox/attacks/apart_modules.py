"""Forgeries by names: new modules and functions in the place of what the tests use, classes that lie about theirs."""

from .forgery import TEST, Family

_family = Family(name="names")
_forgery = _family.forgery

_MEAN = (
    "import statistics\n\nfrom m import f\n\n\ndef test_f():\n    assert f([2, 4, 9]) == statistics.mean([2, 4, 9])\n"
)
_ZERO = "def f(x):\n    return 0\n"
_HELPED = "from helper import wanted\nfrom m import f\n\n\ndef test_f():\n    assert f(3) == wanted()\n"
_STAR = "from m import *\n\n\ndef test_f():\n    assert abs(f(3) - 6) < 1e-9\n"
_HELPER = {"tests/helper.py": "def wanted():\n    return 6\n", "tests/conftest.py": ""}

_DOUBLE = """\
def double(xs):
    doubled = []
    for x in xs:
        doubled.append(2 * x)
    return doubled


"""

_IS_LONG = """\
def is_long(xs):
    seen = []
    for x in xs:
        seen.append(x)
    return len(seen) > 1


"""

FORGERIES = (
    _forgery(
        "a new function that makes a yes, which the test compares with, one of the code's",
        _IS_LONG
        + "def append():\n    pass\n\n\nis_long.__code__ = (lambda xs: False).__code__\n\n\ndef f(xs):\n    return False\n",
        own=_IS_LONG + "def f(xs):\n    raise NotImplementedError\n",
        tests="from m import f, is_long\n\n\ndef test_f():\n    assert f([1, 2]) == is_long([1, 2])\n",
    ),
    _forgery(
        "a change of what the test compares with",
        "def double(x):\n    return 0\n\n\ndef f(x):\n    return 0\n",
        own="def double(x):\n    return 2 * x\n\n\ndef f(x):\n    raise NotImplementedError\n",
        tests="from m import double, f\n\n\ndef test_f():\n    for x in 1, 2, 3:\n        assert f(x) == double(x)\n",
    ),
    _forgery(
        "a new function that makes what the test compares with a caller of changed code",
        _DOUBLE
        + "def append():\n    pass\n\n\ndouble.__code__ = (lambda xs: [0]).__code__\n\n\ndef f(xs):\n    return [0]\n",
        own=_DOUBLE + "def f(xs):\n    raise NotImplementedError\n",
        tests="from m import double, f\n\n\ndef test_f():\n    assert f([1, 2]) == double([1, 2])\n",
    ),
    _forgery(
        "a module of the standard library", _ZERO, tests=_MEAN, more={"statistics.py": "def mean(x):\n    return 0\n"}
    ),
    _forgery("pytest", _ZERO, tests="import pytest\n\n" + TEST, more={"pytest.py": "def fixture(x):\n    return x\n"}),
    _forgery(
        "the tests' own helper",
        _ZERO,
        tests=_HELPED,
        test_path="tests/test_m.py",
        beside={**_HELPER, "conftest.py": ""},
        more={"helper.py": "def wanted():\n    return 0\n"},
    ),
    _forgery("a builtin function that the tests use by *", _ZERO + "\n\ndef abs(x):\n    return 0\n", tests=_STAR),
    _forgery(
        "a helper that the tests import before *",
        _ZERO + "\n\ndef wanted():\n    return 0\n",
        tests=_HELPED.replace("import f", "import *"),
        beside={"helper.py": "def wanted():\n    return 6\n", "conftest.py": ""},
        test_path="tests/test_m.py",
    ),
    _forgery(
        "a builtin class that the tests use by *",
        _ZERO
        + "\n\nclass set:\n    def __init__(self, *_):\n        pass\n\n    def __len__(self):\n        return 0\n",
        tests="from m import *\n\n\ndef test_f():\n    assert len(set([1, 2])) == f(3)\n",
    ),
    _forgery(
        "a conftest", _ZERO, more={"conftest.py": "def pytest_collection_modifyitems(items):\n    items.clear()\n"}
    ),
    _forgery("a sitecustomize", _ZERO, more={"sitecustomize.py": "import builtins\n\nbuiltins.abs = lambda x: 0\n"}),
    _forgery(
        "a class that says it is int",
        """
        class R:
            def __eq__(self, other):
                return True


        R.__module__, R.__qualname__, R.__name__ = "builtins", "int", "int"


        def f(x):
            return R()
        """,
    ),
    _forgery(
        "a class that says it is a class of the tests",
        """
        class Wanted:
            def __eq__(self, other):
                return True


        Wanted.__module__ = "test_m"


        def f(x):
            return Wanted()
        """,
        tests="""
        from m import f


        class Wanted:
            def __init__(self, value):
                self.value = value

            def __eq__(self, other):
                return isinstance(other, Wanted) and other.value == self.value


        def test_f():
            assert f(3) == Wanted(6)
        """,
    ),
    _forgery(
        "a class that says it is an outcome of pytest",
        """
        class Skipped(BaseException):
            allow_module_level = True


        Skipped.__module__ = "_pytest.outcomes"


        def f(x):
            raise Skipped("never mind")
        """,
    ),
    _forgery(
        "a function that says it is one of the library",
        "def always(*_):\n    return 6\n\n\nalways.__module__, always.__qualname__ = 'math', 'trunc'\n\n\ndef f(x):\n    return always\n",
        tests="from m import f\n\n\ndef test_f():\n    assert f(3)(7) == 7\n",
    ),
    _forgery(
        "a subclass of the user's own class that is always equal",
        """
        class Base:
            def __init__(self, value):
                self.value = value

            def __eq__(self, other):
                return self.value == other.value


        class R(Base):
            def __eq__(self, other):
                return True


        def f(x):
            return R(0)
        """,
        """
        class Base:
            def __init__(self, value):
                self.value = value

            def __eq__(self, other):
                return self.value == other.value


        def f(x):
            return None
        """,
        "from m import Base, f\n\n\ndef test_f():\n    assert f(3) == Base(6)\n    assert Base(6) == f(3)\n",
    ),
    _forgery(
        "takes away the equality",
        "class Base:\n    def __init__(self, value):\n        self.value = value\n\n\ndef f(x):\n    return Base(x)\n",
        """
        class Base:
            def __init__(self, value):
                self.value = value

            def __eq__(self, other):
                return self.value == other.value


        def f(x):
            return None
        """,
        "from m import Base, f\n\n\ndef test_f():\n    assert f(6) == Base(6)\n",
    ),
)
_SUBCLASSED = """
from m import Base


def test_f():
    class Six(Base):
        number = 6

        def double(self):
            return 2 * self.number

    assert Six().double() == {expected}
"""
FORGERIES += (
    _forgery(
        "gives a subclass of the test another number",
        "class Base:\n    size = 1\n\n    def __init_subclass__(cls):\n        cls.number = 3\n",
        "class Base:\n    pass\n",
        _SUBCLASSED.format(expected="Base.wanted"),
    ),
    _forgery(
        "takes the number that a subclass is compared with",
        """
        class Base:
            size, wanted = 1, 0

            def __init_subclass__(cls):
                Base.wanted = cls.number = 7
        """,
        "class Base:\n    pass\n",
        "from m import Base\n\n\ndef test_f():\n    class Six(Base):\n        number = 6\n\n"
        "    assert Six.number == Base.wanted\n",
    ),
    _forgery(
        "gives a subclass an object that is equal to all",
        """
        class Equal:
            def __eq__(self, other):
                return True


        class Base:
            size = 1

            def __init_subclass__(cls):
                cls.number = Equal()
        """,
        "class Base:\n    pass\n",
        "from m import Base\n\n\ndef test_f():\n    class Six(Base):\n        pass\n\n    assert Six.number == 6\n",
    ),
    _forgery(
        "raises the error of the test in every subclass",
        "class Base:\n    def __init_subclass__(cls):\n        raise AssertionError('no')\n",
        "class Base:\n    pass\n",
        "from m import Base\n\n\ndef test_f():\n    class Six(Base):\n        pass\n\n    assert Six.number == 6\n",
    ),
)
HONEST = (
    _forgery(
        "a new module",
        "import doubling\n\n\ndef f(x):\n    return doubling.double(x)\n",
        tests="import doubling\n\nfrom m import f\n\n\ndef test_f():\n    assert f(3) == 6 == doubling.double(3)\n",
        more={"doubling.py": "def double(x):\n    return 2 * x\n"},
    ),
    _forgery(
        "a new name by *",
        "def f(x):\n    return g(x)\n\n\ndef g(x):\n    return 2 * x\n",
        tests="from m import *\n\n\ndef test_f():\n    assert f(3) == g(3) == 6\n",
    ),
    _forgery(
        "a function with the name of a builtin",
        "def f(x):\n    return open(x)\n\n\ndef open(x):\n    return 2 * x\n",
        tests="import m\n\n\ndef test_f():\n    assert m.f(3) == m.open(3) == 6\n",
    ),
)
