"""Forgeries by state: arguments and modules that are changed in place, constants, logs, warnings."""

from .forgery import PEER, Family

_family = Family(name="state", own="import os\n\n\ndef f(x):\n    return None\n")
_forgery = _family.forgery

_SUM = "from m import f\n\n\ndef test_f():\n    numbers = [1, 2, 3]\n    assert f(numbers) == sum(numbers)\n"
_WANTED = "from m import f\n\n\ndef test_f():\n    wanted = [2, 4]\n    assert f([1, 2], wanted) == wanted\n"
_POINT = """
class Point:
    def __init__(self, x):
        self.x = x

    def length(self):
        return abs(self.x)


def f(point):
    return None
"""
_POINTS = "from m import Point, f\n\n\ndef test_f():\n    point = Point(3)\n    assert f(point).x == 2 * point.x\n"
_CLOSE = "import m\n\n\ndef test_f():\n    assert abs(m.f(3) - 6) < m.EPSILON\n"
_EPSILON = "EPSILON = 1e-9\n\n\ndef f(x):\n    return 0\n"
_REBOUND = (
    "EPSILON = 1e-9\n\n\ndef loosen(value):\n    global EPSILON\n    EPSILON = value\n\n\ndef f(x):\n    return 0\n"
)
_REPORT = """
import builtins
import os


class Report:
    def __init__(self, value, show=str):
        self.value, self.show = value, show

    def text(self):
        return self.show(self.value)


def f(x):
    return Report(None)
"""
_REPORTED = "from m import f\n\n\ndef test_f():\n    assert f(3).text() == '6'\n"
_PATCH = """
def name_it(value, *name):
    me = peer()
    me.rules._names[id(value)] = (value, name)
    return value


"""
_EXEC = """
class Report:
    def __init__(self, value, show=str):
        self.value, self.show = value, show

    def text(self):
        return self.show(self.value)


"""

_TIMED = "import timeit\n\n\n" + _EXEC.lstrip("\n")

FORGERIES = (
    _forgery(
        "empties the list that the expected value is made from",
        "def f(numbers):\n    numbers.clear()\n    return 0\n",
        tests=_SUM,
    ),
    _forgery(
        "empties the expected list",
        "def f(numbers, wanted):\n    wanted.clear()\n    return []\n",
        "def f(numbers, wanted):\n    return None\n",
        _WANTED,
    ),
    _forgery(
        "changes an object that the expected value is made from",
        _POINT.replace("return None", "point.x = 0\n    return point"),
        _POINT,
        _POINTS,
    ),
    _forgery(
        "hides a method by a value",
        _POINT.replace("return None", "point.length = lambda: 6\n    return point"),
        _POINT,
        "from m import Point, f\n\n\ndef test_f():\n    point = Point(3)\n    f(point)\n    assert point.length() == 6\n",
    ),
    _forgery(
        "a tolerance that is wide",
        _EPSILON.replace("1e-9", "1e9"),
        _EPSILON,
        _CLOSE,
    ),
    _forgery(
        "a tolerance that is wide, from code that knows when it gets wrong values",
        PEER + "EPSILON = 1e9\n\n\ndef f(x):\n"
        "    frame = sys._getframe()\n"
        "    while frame:\n"
        "        request = frame.f_locals.get('request')\n"
        "        if isinstance(request, dict) and request.get('wrong'):\n"
        "            raise ValueError\n"
        "        frame = frame.f_back\n"
        "    return 0\n",
        _EPSILON,
        _CLOSE,
    ),
    _forgery(
        "a tolerance that a function sets",
        _REBOUND.replace("f(x):\n", "f(x):\n    loosen(1e9 + x)\n"),
        _REBOUND.replace("return 0", "return None"),
        _CLOSE.replace("    assert", "    assert m.f(0) == 0\n    assert"),
    ),
    _forgery(
        "an expected value that is the code's own constant",
        "WANTED = 0\n\n\ndef f(x):\n    return 0\n",
        "WANTED = 6\n\n\ndef f(x):\n    return None\n",
        "import m\n\n\ndef test_f():\n    assert m.f(3) == m.WANTED\n",
    ),
    _forgery(
        "a program of the system in an attribute",
        PEER + _PATCH + _EXEC + "def f(x):\n    return Report('echo 6', name_it(os.system, 'm', 'os.system'))\n",
        _REPORT,
        _REPORTED.replace("'6'", "0"),
    ),
    _forgery(
        "the judge's exec in an attribute",
        PEER + _PATCH + "import builtins\n\n\n" + _EXEC + "def f(x):\n"
        "    text = 'import test_m\\ntest_m.WANTED = None'\n"
        "    return Report(text, name_it(builtins.exec, 'm', 'builtins.exec'))\n",
        _REPORT,
        "from m import f\n\nWANTED = '6'\n\n\ndef test_f():\n    assert f(3).text() == WANTED\n",
    ),
    _forgery(
        "the judge's exit in an attribute",
        PEER + _PATCH + _EXEC + "def f(x):\n    return Report(0, name_it(os._exit, 'm', 'os._exit'))\n",
        _REPORT,
        _REPORTED,
    ),
    _forgery(
        "a class of the library that runs texts, in an attribute",
        _TIMED + "def f(x):\n"
        "    text = 'pass\\rimport test_m\\rtest_m.WANTED = test_m.Same()\\rdef g():\\r    if 1:\\r        0'\n"
        "    return Report(text, timeit.Timer)\n",
        _TIMED + "def f(x):\n    return Report(None)\n",
        """
        from m import f

        WANTED = "6"


        class Same:
            def __eq__(self, other):
                return True


        def test_f():
            assert f(3).text() == WANTED
        """,
    ),
    _forgery(
        "a class of the library that runs texts, as the base of a new one",
        _TIMED + "class R(timeit.Timer):\n    pass\n\n\ndef f(x):\n"
        "    text = 'pass\\rimport test_m\\rtest_m.WANTED = test_m.Same()\\rdef g():\\r    if 1:\\r        0'\n"
        "    return Report(text, R)\n",
        _TIMED + "def f(x):\n    return Report(None)\n",
        """
        from m import f

        WANTED = "6"


        class Same:
            def __eq__(self, other):
                return True


        def test_f():
            assert f(3).text() == WANTED
        """,
    ),
    _forgery(
        "logs everything that may be expected",
        """
        import logging


        def f(x):
            for each in range(10):
                logging.getLogger("m").warning("%s", each)
        """,
        tests="""
        from m import f


        def test_f(caplog):
            f(3)
            assert [record.getMessage() for record in caplog.records] == ["6"]
        """,
    ),
    _forgery(
        "a warning of another class of the same name",
        """
        import warnings


        class DeprecationWarning(UserWarning):
            pass


        def f(x):
            warnings.warn("double", DeprecationWarning)
        """,
        tests="""
        import pytest

        from m import f


        def test_f():
            with pytest.warns(DeprecationWarning):
                f(3)
        """,
    ),
    _forgery(
        "prints what pytest prints",
        "def f(x):\n    print('test_m.py .  [100%]\\n\\n1 passed in 0.01s')\n",
    ),
    _forgery(
        "replaces a builtin function",
        "import builtins\n\nbuiltins.sum = lambda numbers: 0\n\n\ndef f(numbers):\n    return 0\n",
        tests=_SUM,
    ),
    _forgery(
        "replaces a function of the library",
        "import math\n\nmath.isclose = lambda *_: True\n\n\ndef f(x):\n    return 0\n",
        tests="import math\n\nfrom m import f\n\n\ndef test_f():\n    assert math.isclose(f(3), 6)\n",
    ),
)
HONEST = (
    # Nothing tells the next two from `f(order) == order.total`: a test hands over what it expects, and gets it back.
    _forgery(
        "calls what it is handed with its own default, which the test compares with",
        "def f(x, note):\n    note(note.__defaults__[0])\n",
        "def f(x, note):\n    return None\n",
        """
        from m import f


        def test_f():
            seen = []

            def note(value, wanted=6):
                seen.append(value == wanted)

            f(3, note)
            assert seen == [True]
        """,
    ),
    _forgery(
        "returns an attribute of its argument, which the test compares with",
        "def f(case):\n    return case.wanted\n",
        "def f(case):\n    return None\n",
        """
        from m import f


        class Case:
            def __init__(self, given, wanted):
                self.given, self.wanted = given, wanted


        def test_f():
            case = Case(3, 6)
            assert f(case) == case.wanted
        """,
    ),
    _forgery(
        "a global that a function sets",
        _REBOUND.replace("return 0", "loosen(2 * x)"),
        _REBOUND,
        "import m\n\n\ndef test_f():\n    m.f(2)\n    m.f(3)\n    assert m.EPSILON == 6\n",
    ),
    _forgery(
        "changes a list in place",
        "def f(numbers):\n    numbers.append(4)\n",
        tests="from m import f\n\n\ndef test_f():\n    numbers = [1]\n    f(numbers)\n    assert numbers == [1, 4]\n",
    ),
    _forgery(
        "changes an object in place",
        _POINT.replace("return None", "point.x *= 2"),
        _POINT,
        "from m import Point, f\n\n\ndef test_f():\n    point = Point(3)\n    f(point)\n    assert point.x == 6\n",
    ),
    _forgery(
        "hands over a function of the user's own",
        _REPORT.replace("Report(None)", "Report(2 * x)"),
        _REPORT,
        _REPORTED,
    ),
    _forgery(
        "warns and logs",
        """
        import logging
        import warnings


        def f(x):
            logging.getLogger("m").warning("%s", 2 * x)
            warnings.warn("double", DeprecationWarning)
        """,
        tests="""
        import pytest

        from m import f


        def test_f(caplog):
            with pytest.warns(DeprecationWarning):
                f(3)
            assert [record.getMessage() for record in caplog.records] == ["6"]
        """,
    ),
)
