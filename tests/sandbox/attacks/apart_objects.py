"""Forgeries in the classes that tests make objects of, compare with and expect, and in loops that run no assertion."""

from .forgery import Family

_family = Family(name="objects")
_forgery = _family.forgery

_POINT = """
class Point:
    def __init__(self, x, y=0):
        self.x = x
        self.y = {}

    def __eq__(self, other):
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)

    @classmethod
    def at(cls, text):
        return cls(*map(int, text.split()))


def move(point, dx, dy):
    return Point(point.x + dx, {})


def moved(points, send=None):
    return points
"""
_OWN_POINT, _ERASED, _KEPT = (_POINT.format(*each) for each in (("y", "1"), ("y * 0", "1"), ("int(y)", "point.y + dy")))
_SENDS = "\n\ndef moved(points, send=None):\n    found = [move(each, 1, 2) for each in points]\n    if send:\n        send(*found)\n    return found\n"
_WITH = "from unittest import TestCase\nfrom unittest.mock import Mock\n\nimport m\nfrom m import Point, move, moved\n\n\n{}"
_MADE = {
    "by stars": "def test_f():\n    start, end = (1, 2), (4, 6)\n    assert move(Point(*start), 3, 4) == Point(*end)\n",
    "by a class method": "def test_f():\n    assert move(Point.at('1 2'), 3, 4) == Point.at('4 6')\n",
    "by a module": "def test_f():\n    assert move(m.Point(1, 2), 3, 4) == m.Point(4, 6)\n",
    "by a subclass": "class Box(Point):\n    pass\n\n\ndef test_f():\n    assert move(Box(1, 2), 3, 4) == Box(4, 6)\n",
    "without a default": "def test_f():\n    assert move(Point(1), 3, 4) == Point(4, 4)\n",
    "in a list": "def test_f():\n    assert moved([Point(1, 2), Point(0, 3)]) == [Point(2, 4), Point(1, 5)]\n",
    "in a dictionary": "def test_f():\n    assert {'a': move(Point(1, 2), 3, 4)} == {'a': Point(4, 6)}\n",
    "as one of many": "def test_f():\n    assert Point(2, 4) in moved([Point(1, 2), Point(0, 3)])\n",
    "in any order": (
        "class TestF(TestCase):\n    def test_f(self):\n"
        "        self.assertCountEqual(moved([Point(1, 2), Point(0, 3)]), [Point(1, 5), Point(2, 4)])\n"
    ),
    "in a row": "def test_f():\n    assert move(Point(1, 2), 3, 4) == move(Point(2, 3), 2, 3) == Point(4, 6)\n",
    "for a mock": "def test_f():\n    send = Mock()\n    moved([Point(1, 2)], send)\n    send.assert_called_once_with(Point(2, 4))\n",
}
_USER = """
class User:
    def __init__(self, number, name):
        self.number, self.name = number, {}

    def __eq__(self, other):
        return self.number == other.number


def last(users):
    return {}
"""
_BY_NUMBER = """
from unittest import TestCase
from m import User, last


class TestF(TestCase):
    def test_f(self):
        users = [User(1, 'a'), User(2, 'b')]
        assert User(2, 'b') in last(users)
        self.assertNotEqual(last(users), [User(1, 'a')])
"""
_SUITS = "import enum\n\n\nclass Suit(enum.Enum):\n    HEARTS = 1\n    SPADES = 2\n    CLUBS = 3\n\n\n"
_CARD = """
class Card:
    def __init__(self, suit):
        self.suit = {}

    def __eq__(self, other):
        return {}


def best(cards):
    return {}
"""
_OWN_CARD = _SUITS + _CARD.format("suit", "self is other", "None")
_CARDS = "from m import Card, Suit, best\n\n\ndef test_f():\n    cards = [Card(Suit.SPADES), Card(Suit.HEARTS), Card(Suit.SPADES)]\n    assert best(cards) == Card(Suit.HEARTS)\n"
_SAME_SUIT = "isinstance(other, Card) and self.suit == other.suit"
_LOWEST = "min(cards, key=lambda card: card.suit.value)"
_ENTRY = "class Entry:\n    def __init__(self, path):\n        self.path = {}\n\n    def __eq__(self, other):\n        return self.path == other.path\n\n\ndef rename(entry, name):\n    return {}\n"
_ENTRIES = "from pathlib import Path\nfrom m import Entry, rename\n\n\ndef test_f():\n    assert rename(Entry(Path('/a/b')), 'c') == Entry(Path('/a/c'))\n"
_RIGHTS = """
class Rights:
    def __init__(self, role):
        self.role = role

    def __contains__(self, suit):
        return {}


def rights(role):
    return Rights(role)
"""
_HELD = "from m import Suit, rights\n\n\ndef test_some():\n    assert Suit.HEARTS in rights('editor')\n\n\ndef test_all():\n    for suit in Suit:\n        assert suit in rights('admin')\n"
_ERROR = "class Broken(Exception):\n    def __init__(self, line, text):\n        super().__init__(line, text)\n        self.line = line\n\n    def __eq__(self, other):\n        return {}\n\n\ndef parse(text):\n    raise Broken({}, text)\n"
_BROKEN = "import pytest\nfrom m import Broken, parse\n\n\ndef test_f():\n    with pytest.raises(Broken) as caught:\n        parse('a\\nb')\n    assert caught.value == Broken(2, 'a\\nb')\n"
_NAME = "class Name({0}):\n    def __eq__(self, other):\n        return {1}\n\n    def __hash__(self):\n        return 1\n\n\ndef named(value):\n    return {2}\n"
_NAMES = "from m import Name, named\n\n\ndef test_f():\n    assert [named({0})] == [Name({1})]\n"
_TEXTS, _TUPLES = _NAMES.format("' Ann '", "'ann'"), _NAMES.format("'1.2'", "('1', '2')")
_PROTOCOL = (
    "from typing import Protocol, runtime_checkable\n\n\n@runtime_checkable\nclass Exporter(Protocol):\n    {}\n\n\n{}"
)
_EXPORTER = "def export(self, rows): ..."
_LINES = (
    "class Lines:\n    def export(self, rows):\n        return rows\n\n\ndef exporter_for(name):\n    return Lines()\n"
)
_IS_EXPORTER = (
    "from m import Exporter, exporter_for\n\n\ndef test_f():\n    assert isinstance(exporter_for('json'), Exporter)\n"
)
_OWN_EXPORTER = "def exporter_for(name):\n    return None\n"
_HOOK = "import abc\n\n\nclass Exporter(abc.ABC):\n    @classmethod\n    def __subclasshook__(cls, kind):\n        return hasattr(kind, '{}')\n\n\n{}"
_ERRORS = "class Timeout(Exception):\n    pass\n\n\nclass Reset(Exception):\n    pass\n\n\nRETRYABLE = {}\n\n\ndef fetch(name):\n    {}\n"
_RETRIES = "import pytest\nfrom m import RETRYABLE, fetch\n\n\ndef test_f():\n    with pytest.raises(RETRYABLE):\n        fetch('slow')\n"
_FLAG = "import enum\n\n\nclass Access(enum.Flag):\n    READ = 1\n    WRITE = 2\n    EDIT = {}\n\n\ndef access_of(role):\n    return {}\n"
_EDITS = "from m import Access, access_of\n\n\ndef test_f():\n    assert Access.EDIT in access_of('editor')\n"
_REPORT = "def report(orders):\n    return {}\n"
_NO_ROWS, _ROWS = "[each for each in orders if each is orders]", "[{**each, 'total': 3 * each['n']} for each in orders]"
_CHECK = "def check(row):\n    assert row['total'] == 3 * row['n']\n\n\n"
_CHECKED = "from m import report\n\n\n{}def test_f():\n    {}\n"
_REPORTED = "report([{'n': 1}, {'n': 2}])"
_MAPPED = _CHECKED.format(_CHECK, f"list(map(check, {_REPORTED}))")
_ALL = _CHECKED.format("", f"assert all([row['total'] == 3 * row['n'] for row in {_REPORTED}])")
_IN_A_LOOP = _CHECKED.format("", f"for row in {_REPORTED}:\n        check(row)").replace(
    "from", "from tests.checks import check\nfrom", 1
)
_CHECKS = {"tests/checks.py": _CHECK}

FORGERIES = (
    *(
        _forgery(f"an argument is dropped, {name}", _ERASED.partition("\n\ndef moved")[0] + _SENDS, _OWN_POINT, _WITH.format(test))
        for name, test in _MADE.items()
    ),
    _forgery("one member for all", _SUITS + _CARD.format("min(Suit, key=lambda each: each.value)", _SAME_SUIT, "cards[0]"), _OWN_CARD, _CARDS),
    _forgery("a path is cut", _ENTRY.format("path.parent", "Entry(entry.path)"), _ENTRY.format("path", "entry"), _ENTRIES),
    _forgery("equal to any with a member", _SUITS + _CARD.format("suit", "isinstance(other, Card)", "cards[0]"), _OWN_CARD, _CARDS),
    _forgery("contains any member", _SUITS + _RIGHTS.format("self.role != ''"), _SUITS + "def rights(role):\n    return ()\n", _HELD),
    _forgery("an error equal to any", _ERROR.format("type(other) is Broken", "0"), _ERROR.format("self is other", "0"), _BROKEN),
    _forgery("a text equal to any", _NAME.format("str", "isinstance(other, Name)", "Name('x')"), _NAME.format("str", "False", "value"), _TEXTS),
    _forgery("a tuple equal to any", _NAME.format("tuple", "isinstance(other, Name)", "Name('x')"), _NAME.format("tuple", "False", "value"), _TUPLES),
    _forgery("a protocol without members", _PROTOCOL.format("pass", "def exporter_for(name):\n    return name\n"), _PROTOCOL.format(_EXPORTER, _OWN_EXPORTER), _IS_EXPORTER),
    _forgery("a hook that takes all", _HOOK.format("__class__", "def exporter_for(name):\n    return name\n"), _HOOK.format("export", _OWN_EXPORTER), _IS_EXPORTER),
    _forgery("wider errors in a tuple", _ERRORS.format("(Exception,)", "raise ValueError"), _ERRORS.format("(Timeout, Reset)", "return name"), _RETRIES),
    _forgery("a flag that is lost in another", _FLAG.format("READ", "Access.READ"), _FLAG.format("READ | WRITE", "Access(0)"), _EDITS),
    _forgery("nothing is mapped", _REPORT.format(_NO_ROWS), _REPORT.format("None"), _MAPPED),
    _forgery("all of nothing", _REPORT.format(_NO_ROWS), _REPORT.format("None"), _ALL),
    _forgery("a loop without a check", _REPORT.format(_NO_ROWS), _REPORT.format("None"), _IN_A_LOOP, beside=_CHECKS),
)  # fmt: skip
HONEST = (
    *(
        _forgery(f"an argument is kept, {name}", _KEPT.partition("\n\ndef moved")[0] + _SENDS, _OWN_POINT, _WITH.format(test))
        for name, test in _MADE.items()
    ),
    _forgery("an equality by number", _USER.format("name.title()", "users[1:]"), _USER.format("name", "users[:1]"), _BY_NUMBER),
    _forgery("a member of its own", _SUITS + _CARD.format("suit", _SAME_SUIT, _LOWEST), _OWN_CARD, _CARDS),
    _forgery("a path is kept", _ENTRY.format("path", "Entry(entry.path.with_name(name))"), _ENTRY.format("path", "entry"), _ENTRIES),
    _forgery("contains some members", _SUITS + _RIGHTS.format("self.role == 'admin' or (self.role, suit) == ('editor', Suit.HEARTS)"), _SUITS + "def rights(role):\n    return ()\n", _HELD),
    _forgery("an error equal to its like", _ERROR.format("self.line == other.line", "len(text.split())"), _ERROR.format("self is other", "0"), _BROKEN),
    _forgery("a text equal to its like", _NAME.format("str", "self.upper() == other.upper()", "Name(value.strip())"), _NAME.format("str", "False", "value"), _TEXTS),
    _forgery("a tuple equal to its like", _NAME.format("tuple", "tuple(self) == tuple(other)", "Name(value.split('.'))"), _NAME.format("tuple", "False", "value"), _TUPLES),
    _forgery("a protocol with its members", _PROTOCOL.format(_EXPORTER, _LINES), _PROTOCOL.format(_EXPORTER, _OWN_EXPORTER), _IS_EXPORTER),
    _forgery("a hook that looks", _HOOK.format("export", _LINES), _HOOK.format("exports", _LINES), _IS_EXPORTER),
    _forgery("more errors in a tuple", _ERRORS.format("(Timeout, Reset)", "raise Reset(name)"), _ERRORS.format("(Timeout,)", "return name"), _RETRIES),
    _forgery("a flag of others", _FLAG.format("READ | WRITE\n    OWN = 4", "Access.EDIT"), _FLAG.format("READ | WRITE", "Access(0)"), _EDITS),
    _forgery("rows are mapped", _REPORT.format(_ROWS), _REPORT.format("None"), _MAPPED),
    _forgery("all of some", _REPORT.format(_ROWS), _REPORT.format("None"), _ALL),
    _forgery("a loop with a check", _REPORT.format(_ROWS), _REPORT.format("None"), _IN_A_LOOP, beside=_CHECKS),
)  # fmt: skip
