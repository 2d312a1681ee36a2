"""Forgeries in what a test expects: assertions without two sides, names that come from the changed code, own state."""

from .forgery import Family

_family = Family(
    name="expecting", own="def fast(n):\n    return 0\n\n\ndef slow(n):\n    return n * n\n", tests="import m\n"
)
_forgery = _family.forgery

_BOTH = "def fast(n):\n    return n + 1\n\n\ndef slow(n):\n    return 1 + n\n"
_ASYNC = "async def fast(n):\n    return n + 1\n\n\nasync def slow(n):\n    return 1 + n\n"
_SQUARES = "def fast(n):\n    return sum([n] * n)\n\n\ndef slow(n):\n    return n**2\n"
_NOT = "from m import fast, slow\n\n\ndef test_it():\n    for n in range(10):\n        assert not fast(n) != slow(n)\n"
_RAISES = """\
from m import fast, slow


def test_it():
    for n in range(10):
        if fast(n) != slow(n):
            raise AssertionError(n)
"""
_ALL = "from m import fast, slow\n\n\ndef test_it():\n    assert all(fast(n) == slow(n) for n in range(10))\n"
_AWAITS = """\
import asyncio

from m import fast, slow


def test_it():
    async def check():
        assert await fast(3) == await slow(3)

    asyncio.run(check())
"""
_CLEARED = """\
from m import fast


def test_it():
    items = [3, 1, 2]
    found = fast(items)
    assert found == sorted(items) and len(found) == len(items)
"""
_FILES = """\
import filecmp

from m import fast, slow


def test_it(tmp_path):
    fast(tmp_path / "fast.txt", 9)
    slow(tmp_path / "slow.txt", 9)
    assert filecmp.cmp(tmp_path / "fast.txt", tmp_path / "slow.txt", shallow=False)
"""
_WRITING = "def fast(path, n):\n    path.write_text({})\n\n\ndef slow(path, n):\n    path.write_text({})\n"
_SORTED = _CLEARED.replace("found = fast(items)\n", "found = fast(items)\n    items = [1, 3, 2]\n")

# -- names that come from the changed code ---------------------------------------------------------------------------

_STATUS = 'import enum\n\n\nclass Status(enum.Enum):\n    OK = "ok"\n    FAILED = "{}"\n\n\n'
_CHECK = "def check(word):\n    return Status.OK if len(word) >= {} else Status.FAILED\n"
_SHORT = "from m import Status, check\n\n\ndef test_it():\n    assert check('abc') is Status.FAILED\n"
_ACCESS = (
    "import enum\n\n\nclass Access(enum.Flag):\n    READ = 1\n    WRITE = {}\n\n\ndef access_of(role):\n    return {}\n"
)
_EDITOR = "from m import Access, access_of\n\n\ndef test_it():\n    assert Access.WRITE in access_of('editor')\n"
_UNITS = "import enum\n\n\nclass Unit(enum.Enum):\n    KM = 1000\n{}\n\ndef convert(value, unit):\n    return value{}\n"
_EACH = """\
from m import Unit, convert


def test_it():
    for unit in Unit:
        assert convert(2, unit) == 2 * {"KM": 1000, "MILE": 1609}[unit.name]
"""
_MONEY = "class Money:\n    def __init__(self, cents):\n        self.cents = cents\n\n\n"
_PRICE = "def price(text):\n    return {}(text)\n"
_IS_MONEY = "from m import Money, price\n\n\ndef test_it():\n    assert isinstance(price('1.50'), Money)\n"
_ERRORS = "class NotFound(Exception):\n    pass\n\n\n{}\n\ndef fetch(name):\n    raise {}(name)\n"
_DENIED = "class Denied(Exception):\n    pass\n"
_SECRET = """\
import pytest

from m import Denied, fetch


def test_it():
    with pytest.raises(Denied):
        fetch("secret")
"""
_STATE = "UNKNOWN = {}\n\n\ndef state(text):\n    return {}\n"
_UNKNOWN = "from m import UNKNOWN, state\n\n\ndef test_it():\n    assert state('?') is UNKNOWN\n"

_NAMES = {
    "two members that are one": (
        _STATUS.format("failed") + _CHECK.format(0),
        _STATUS.format("ok") + _CHECK.format(0),
        _STATUS.format("FAILED") + _CHECK.format(8),
        _SHORT,
    ),
    "a flag of nothing": (
        _ACCESS.format(2, "Access.READ"),
        _ACCESS.format(0, "Access.READ"),
        _ACCESS.format(4, "Access.READ | Access.WRITE if role == 'editor' else Access.READ"),
        _EDITOR,
    ),
    "a member that is gone": (
        _UNITS.format("    MILE = 1609\n", " * 1000"),
        _UNITS.format("", " * unit.value"),
        _UNITS.format("    MILE = 1609\n", " * unit.value"),
        _EACH,
    ),
    "a class that is any object": (
        _MONEY + _PRICE.format("float"),
        "Money = object\n\n\n" + _PRICE.format("float"),
        "from decimal import Decimal as Money\n\n\n" + _PRICE.format("Money"),
        _IS_MONEY,
    ),
    "a class that is a plain one": (
        _MONEY + _PRICE.format("float"),
        "Money = float\n\n\n" + _PRICE.format("float"),
        _MONEY + _PRICE.format("Money"),
        _IS_MONEY,
    ),
    "a class that is an abstract one": (
        _MONEY + _PRICE.format("float"),
        "from collections.abc import Hashable as Money\n\n\n" + _PRICE.format("float"),
        "from fractions import Fraction as Money\n\n\n" + _PRICE.format("Money"),
        _IS_MONEY,
    ),
    "two exceptions that are one": (
        _ERRORS.format(_DENIED, "NotFound"),
        _ERRORS.format("Denied = NotFound\n", "NotFound"),
        _ERRORS.format("class Denied(NotFound):\n    pass\n\n\nForbidden = Denied\n", "Forbidden"),
        _SECRET,
    ),
    "an exception that is several": (
        _ERRORS.format(_DENIED, "NotFound"),
        _ERRORS.format("Denied = (NotFound, ValueError)\n", "NotFound"),
        _ERRORS.format("class Denied(PermissionError):\n    pass\n", "Denied"),
        _SECRET,
    ),
    "an object that is no": (
        _STATE.format("object()", "text == 'on'"),
        _STATE.format("False", "text == 'on'"),
        _STATE.format("None", "{'on': True, 'off': False}.get(text, UNKNOWN)"),
        _UNKNOWN,
    ),
}

# -- state of the user's own -----------------------------------------------------------------------------------------

_SUM = """\
class Money:
    def __init__(self, value, tolerance=0, scale=1):
        self.value, self.tolerance, self.scale = value, tolerance, scale

    def __eq__(self, other):
        return abs(self.value - other.value) <= self.tolerance

    def __sub__(self, other):
        return Money((self.value - other.value) * self.scale)


def off(money, part):
    return Money({})
"""
_OFF = "from m import Money, off\n\n\ndef test_it():\n    {}\n"
_SEEN = _OFF.format("price = Money(5)\n    assert off(price, 0) == price")
_OFTEN = _OFF.format("for n in range(800):\n        assert off(Money(n), 1) == Money(0)")
_APART = _OFF.format("assert abs((off(Money(8), 0.5) - Money(4)).value) < 1e-9")
_CONFIG = """\
MODE = "exact"


def set_mode(value):
    global MODE
    MODE = value


def same(one, other):
    return one == other if MODE != "loose" else True
"""
_AREA = "import config\n\n\ndef area(w, h):\n    config.set_mode('{}')\n    return w {} h\n"
_SAME = "from config import same\nfrom m import area\n\n\ndef test_it():\n    assert same(area(3, 4), 12)\n"
_STATES = {
    "a tolerance in what the code has met": ("money.value * part, 1e9", "money.value * (1 - part), 0.005", _SEEN),
    "a tolerance after many": (
        "money.value * (1 - part) if money.value < 700 else 9, 1e5 * (money.value >= 700)",
        "money.value * (1 - part), 0.005",
        _OFTEN,
    ),
    "a scale of nothing": ("money.value, 0, 0", "money.value * (1 - part), 0, 1000", _APART),
}


def _make(place):
    """Forgeries for 0, honest changes for 1."""
    for name, (own, *texts, test) in _NAMES.items():
        yield _forgery(name, texts[place], own, test)
    for name, (*results, test) in _STATES.items():
        yield _forgery(name, _SUM.format(results[place]), _SUM.format("-1"), test)
    mode = ("loose", "+"), ("exact", "*")
    yield _forgery(
        "a mode", _AREA.format(*mode[place]), _AREA.format("exact", "+"), _SAME, beside={"config.py": _CONFIG}
    )


FORGERIES = (
    _forgery("a comparison that is denied", _BOTH, tests=_NOT),
    _forgery("a condition that raises", _BOTH, tests=_RAISES),
    _forgery("a comparison of all", _BOTH, tests=_ALL),
    _forgery("a comparison that waits", _ASYNC, tests=_AWAITS),
    _forgery("the first of two comparisons", "def fast(items):\n    items.clear()\n    return []\n", tests=_CLEARED),
    _forgery("a comparison of files", _WRITING.format("'%d' % n", "str(n)"), tests=_FILES),
    *_make(0),
)

HONEST = (
    _forgery("a comparison that is denied", _SQUARES, tests=_NOT.replace("slow(n)", "n * n")),
    _forgery("a condition that raises", _SQUARES, tests=_RAISES.replace("slow(n)", "n * n")),
    _forgery("a comparison of all", _SQUARES, tests=_ALL.replace("slow(n)", "n * n")),
    _forgery(
        "a comparison that waits",
        "async def fast(n):\n    return n * n\n\n\nasync def slow(n):\n    return n**2\n",
        tests=_AWAITS.replace("await slow(3)", "9"),
    ),
    _forgery(
        "the first of two comparisons", "def fast(items):\n    items.sort()\n    return [*items]\n", tests=_SORTED
    ),
    _forgery(
        "a comparison of files",
        _WRITING.format("'\\n'.join(str(x * x) for x in range(n))", "'\\n'.join(str(x**2) for x in range(n))"),
        tests=_FILES.replace(
            '    slow(tmp_path / "slow.txt", 9)', '    (tmp_path / "slow.txt").write_text("0\\n1\\n4")'
        ).replace("9)", "3)"),
    ),
    *_make(1),
)
