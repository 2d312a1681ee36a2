"""Forgeries that confuse what encodes values, or speak to the judge past it."""

from .forgery import PEER, TEST, Family

_family = Family(name="codec")
_forgery = _family.forgery

LENT = """
from m import f


def test_f():
    given = [1, 2]
    assert f(given) == [2, 4]
    assert given == [1, 2]
"""
CALLS_BACK = """
from m import f


def test_f():
    wanted = 6

    def note(value):
        seen.append((value, wanted))

    seen = []
    f(3, note)
    assert seen == [(wanted, 6)]
"""
OF_THE_TESTS = """
from m import f

WANTED = 6


def wanted():
    return 6


def test_f():
    assert f(3) == WANTED
    assert wanted() == f(3)
"""
IDS = """
class Id:
    def __init__(self, value):
        self.value = value


def f(x):
    return None
"""


def _raw(name, code, tests="", own="", **more):
    return _forgery(name, code, own, tests, prelude=PEER, **more)


def _pretends(base, wanted):
    """A subclass of a built-in type that is equal to everything."""
    code = f"""
    class Same({base}):
        def __eq__(self, other):
            return True

        def __ne__(self, other):
            return False

        __hash__ = {base}.__hash__


    def f(x):
        return Same()
    """
    return _forgery(f"an own {base} that is equal to everything", code, tests=TEST.replace("6", wanted))


FORGERIES = (
    *(
        _pretends(base, wanted)
        for base, wanted in (
            ("int", "6"),
            ("float", "0.5"),
            ("str", "'six'"),
            ("list", "[6]"),
            ("tuple", "(6,)"),
            ("dict", "{6: 6}"),
            ("bytes", "b'6'"),
            ("set", "{6}"),
        )
    ),
    _forgery(
        "a slot named __class__",
        """
        class Six:
            __slots__ = ("__class__",)

            def __init__(self):
                self.__class__ = int


        def f(x):
            return Six()
        """,
        tests="from m import f\n\n\ndef test_f():\n    assert isinstance(f(3), int)\n",
    ),
    _raw("an unknown tag", "def f(x):\n    answer(['zz', 6])\n"),
    _raw("an object instead of a value", "def f(x):\n    answer({'value': 6})\n"),
    _raw("the number of nothing", "def f(x):\n    answer(['s', 'j999'])\n"),
    _raw("a state for what was not lent", "def f(x):\n    answer(['s', 'j999'], {'j999': ['l', 6]})\n"),
    _raw("a list that becomes a dict", "def f(x):\n    answer(['s', 'j1'], {'j1': ['d', 2, 4]})\n", LENT),
    _raw(
        "an instance of a built-in type with another value",
        "def f(x):\n    answer(['s', 'c1'], {'c1': ['o', ['g', 'builtins', 'int'], [], True]})\n",
    ),
    _raw(
        "a function of the tests by its name",
        "def f(x):\n    answer(['g', 'test_m', 'wanted'])\n",
        "import m\n\n\ndef wanted():\n    return 6\n\n\ndef test_f():\n    assert m.f(3)() == 6\n",
    ),
    _raw("an object of the tests by its path", "def f(x):\n    answer(['s', 'g|test_m|WANTED'])\n", OF_THE_TESTS),
    _raw(
        "a global of the tests",
        "def f(x):\n    answer(0, globals=[[['test_m', 'WANTED'], 0], [['test_m', 'wanted'], None]])\n",
        OF_THE_TESTS,
    ),
    _raw(
        "a matcher of unittest by its path",
        "def f(x):\n    answer(['s', 'g|unittest.mock|ANY'])\n",
        "from unittest import mock\n" + TEST,
    ),
    _raw(
        "a class of pytest by its name",
        "def f(x):\n    answer(['s', 'c1'], {'c1': ['o', ['g', '_pytest.python_api', 'ApproxScalar'], [], None]})\n",
    ),
    _raw(
        "a skip from pytest",
        "def f(x):\n"
        "    state = ['x', ['g', '_pytest.outcomes', 'Skipped'], ['t', 'x'], [], None, None, False]\n"
        "    send('raise', ['s', 'c1'], states={'c1': state})\n    time.sleep(0.5)\n",
    ),
    _raw(
        "a handle that answers comparisons",
        "def f(x):\n    answer(['s', 'c1'], {'c1': ['h', None, ['eq', 'ne', 'bool', 'lt']]})\n",
    ),
    _raw(
        "a class whose comparison is a property",
        "def f(x):\n"
        "    kind = ['C', 'class', 'R', 'm', [['g', 'builtins', 'object']],\n"
        "            [['__eq__', 'property', 'plain']], []]\n"
        "    answer(['s', 'c2'], {'c1': kind, 'c2': ['o', ['s', 'c1'], [], None]})\n",
    ),
    _raw(
        "a class whose comparison is an attribute",
        "def f(x):\n"
        "    kind = ['C', 'class', 'R', 'm', [['g', 'builtins', 'object']], [],\n"
        "            ['__eq__', ['g', 'builtins', 'isinstance'], '__ne__', ['g', 'builtins', 'id']]]\n"
        "    answer(['s', 'c2'], {'c1': kind, 'c2': ['o', ['s', 'c1'], [], None]})\n",
    ),
    _raw(
        "a comparison that is a coroutine, by a forged class",
        "def f(x):\n"
        "    kind = ['C', 'class', 'R', 'm', [['g', 'builtins', 'object']], [['__eq__', '', 'async']], []]\n"
        "    answer(['s', 'c2'], {'c1': kind, 'c2': ['o', ['s', 'c1'], [], None]})\n",
    ),
    _raw(
        "asks for the globals of a function of the tests",
        "def f(x, note):\n    note(ask('getattr', ['s', 'j1'], '__globals__')[1][0]['WANTED'])\n",
        CALLS_BACK.replace("wanted = 6", "global WANTED\n    WANTED = wanted = 6"),
    ),
    _raw(
        "asks for the closure of a function of the tests",
        "def f(x, note):\n"
        "    for number in range(1, 9):\n"
        "        kind, values = ask('getattr', ['s', 'j%d' % number], '__closure__')\n"
        "        for cell in values[0] if kind == 'return' else ():\n"
        "            note(cell.cell_contents)\n",
        CALLS_BACK,
    ),
    _raw(
        "a call of a judge's function under another name",
        "def f(x, note):\n    note(ask('call', ['g', 'builtins', 'globals'], ['t'], ['s', 'j1'])[1][0]['WANTED'])\n",
        CALLS_BACK,
    ),
    _raw(
        "two answers before the question",
        "def f(x):\n    send('return', 7)\n    send('return', True)\n    return 6.5\n",
    ),
    _raw(
        "half a message",
        "def f(x):\n    peer().wire.write(b'\\0\\0\\0\\x09{')\n    peer().wire.flush()\n    os._exit(0)\n",
    ),
    _raw("an unfit run that says it passed", "def f(x):\n    send('unfit', '')\n    return None\n"),
    _forgery(
        "a list in itself",
        "def f(x):\n    found = []\n    found.append(found)\n    return found\n",
        tests=TEST.replace("6", "[[[6]]]"),
    ),
    _forgery(
        "a value nested without end",
        "def f(x):\n    found = 6\n    for _ in range(100_000):\n        found = (found,)\n    return found\n",
    ),
    _forgery("a value of a hundred megabytes", "def f(x):\n    return 'x' * 100_000_000\n"),
    _forgery(
        "finds the socket by its descriptor",
        """
        import json
        import os
        import struct


        def f(x):
            for fd in range(3, 64):
                try:
                    body = json.dumps({"k": "return", "v": [["ni"]], "o": {}}).encode()
                    os.write(fd, struct.pack(">I", len(body)) + body)
                except OSError:
                    pass
            os._exit(0)
        """,
    ),
)
HONEST = (
    _forgery(
        "an honest int of its own",
        """
        class Six(int):
            def __repr__(self):
                return "six"


        def f(x):
            return Six(2 * x)
        """,
    ),
    _forgery(
        "values of every kind",
        """
        import datetime
        import decimal


        def f(x):
            day = datetime.date(2020, 1, x)
            return {"day": day, "sum": decimal.Decimal(x) / 2, "all": [(1, b"2", {3}), None, 1 << 70, float("inf")]}
        """,
        tests="""
        import datetime
        import decimal

        from m import f


        def test_f():
            day = datetime.date(2020, 1, 3)
            wanted = {"day": day, "sum": decimal.Decimal("1.5"), "all": [(1, b"2", {3}), None, 1 << 70, float("inf")]}
            assert f(3) == wanted
        """,
    ),
)
