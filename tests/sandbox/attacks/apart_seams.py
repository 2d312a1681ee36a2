"""Forgeries by what nobody has noted: states of files and named objects, and what comes before a case begins."""

from .forgery import Family

_family = Family(name="seams")
_forgery = _family.forgery

_SYNC = """
def f(source, target):
    {}
"""
_OWN_SYNC = _SYNC.format("pass")
_FOLDERS = """
from m import f


def test_f(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    for folder in (source, target):
        folder.mkdir()
    (source / "a.txt").write_text("a")
    (target / "old.txt").write_text("old")
    (target / "kept").mkdir()
    f(source, target)
    found = sorted(path.name for path in target.iterdir() if path.is_file())
    assert found == sorted(path.name for path in source.iterdir())
"""
_FILES = """
from m import f


def test_f(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("one")
    target.write_text("other")
    source.chmod(0o740)
    target.chmod(0o644)
    f(source, target)
    assert target.{} == source.{}
"""
_MODES = _FILES.format("stat().st_mode", "stat().st_mode")
_TEXTS = _FILES.format("read_text()", "read_text()")
_QUIET = """
import os


def f(source, target):
    times = os.stat(source)
    for path in (source, target):
        with open(path, "r+b" if path is source else "wb") as stream:
            stream.write(b" " * times.st_size)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
"""
_CART = """
class Item:
    def __init__(self, price):
        self.price = price


class Cart:
    def __init__(self, *items):
        self.items = items

    def total(self):
        {}
"""
_OWN_CART = _CART.format("return len(self.items)")
_NAMED = """
from m import Cart, Item


def test_f():
    pen, book = Item(3), Item(12)
    assert Cart(pen, book).total() == pen.price + book.price
"""
_BEST = """
from m import Cart, Item


def test_f():
    pen, book = Item(3), Item(12)
    best = Cart(pen, book).total()
    assert best == max((pen, book), key=lambda item: item.price).price
"""
_STATS = """
class Stats:
    def __init__(self, values):
        self.values = values

    def total(self):
        {}
"""
_OWN_STATS = _STATS.format("return 0")
_CLEARS = _STATS.format("self.values.clear()\n        return 0")
_SORTS = _STATS.format("self.values.sort()\n        return sum(self.values)")
_OF_MODULE = """
from m import Stats

VALUES = [5, 3, 4]


def test_f():
    assert Stats(VALUES).total() == sum(VALUES)
"""
_IN_TABLES = """
from m import Stats


def test_f():
    tables = {"ann": {"may": [1, 2], "june": [3]}, "bob": {"may": [4, 5, 6]}}
    assert Stats(tables).total() == sum(sum(rows) for months in tables.values() for rows in months.values())
"""
_OF_TABLES = """
found = 0
        for months in self.values.values():
            for rows in months.values():
                {}
                found += sum(rows)
        return found
"""
_WINDOW = """
import collections

from m import Stats


def test_f():
    values = collections.deque([5, 3, 4], maxlen=3)
    assert Stats(values).total() == sum(values)
"""
_COUNTED = """
import collections

from m import f


def test_f():
    counts = collections.Counter("banana")
    assert f(counts) == sum(counts.values())
"""
_SET_UP = """
import unittest

from m import Stats


class StatsTest(unittest.TestCase):
    def setUp(self):
        self.values = [5, 3, 4]
        self.stats = Stats(self.values)

    def test_f(self):
        self.assertEqual(self.stats.total(), sum(self.values))


def test_f():
    case = StatsTest("test_f")
    case.setUp()
    case.test_f()
"""
_ORDERS = """
def order(items):
    return {}


def order_slow(items):
    return {}
"""
_OWN_ORDERS = _ORDERS.format("None", "None")
_AT_IMPORT = """
from m import order, order_slow

WORDS = "the quick brown fox".split()
EXPECTED = order_slow(WORDS)


def test_f():
    assert order(WORDS) == EXPECTED
"""
_IN_A_FIXTURE = """
import pytest

from m import Stats


@pytest.fixture(scope="module")
def values():
    return [5, 3, 4]


@pytest.fixture(scope="module")
def total(values):
    return Stats(values).total()


def test_first(total):
    assert total == 12


def test_f(total, values):
    assert total == sum(values)
"""
_MANY = """
from m import f


def test_f():
    prices = []
    for price in range(1, 300):
        assert 0 < price
        prices.append(price)
    assert f(prices) == sum(prices)
"""
_MANY_LAST = """
from m import f


def test_f():
    prices = [1]
    for price in range(1, 300):
        prices.append(price)
        assert f(prices) == sum(prices)
"""
_VISITS = """
from m import leaves


def test_f():
    left = [1, 2, 3, 4]
    leaves([1, [2, [3]], 4], left.remove)
    assert left == []
"""
_OWN_LEAVES = "def leaves(tree, visit):\n    pass\n"
_GUESSES = """
def leaves(tree, visit):
    for guess in range(20):
        try:
            visit(guess)
        except ValueError:
            pass
"""
_LEAVES = """
def leaves(tree, visit):
    for each in tree:
        if isinstance(each, list):
            leaves(each, visit)
        else:
            visit(each)
"""
_PATIENT = """
from m import retry


def test_f():
    errors = [ValueError()] * 5

    def once():
        if errors:
            raise errors.pop()
        return 3

    assert retry(once) == 3
"""
_RETRIES = """
def retry(ask):
    while True:
        try:
            return ask()
        except ValueError:
            pass
"""
_GAME = """
class Player:
    def __init__(self, name):
        self.name = name
        self.points = 0


class Game:
    def __init__(self, *players):
        self.players = players

    def score(self, name, points):
        {}

    def ranking(self):
        return sorted(self.players, key=lambda player: -player.points)
"""
_RANKING = """
from m import Game, Player


def test_f():
    ann, bob = Player("ann"), Player("bob")
    game = Game(ann, bob)
    game.score("bob", 3)
    assert game.ranking() == [bob, ann]
"""

FORGERIES = (
    _forgery("guesses what it is asked for", _GUESSES, _OWN_LEAVES, _VISITS),
    _forgery(
        "deletes files of the test",
        _SYNC.format(
            "for folder in (source, target):\n        for path in folder.glob('*.txt'):\n            path.unlink()"
        ),
        _OWN_SYNC,
        _FOLDERS,
    ),
    _forgery(
        "changes the modes of files",
        _SYNC.format("for path in (source, target):\n        path.chmod(0o600)"),
        _OWN_SYNC,
        _MODES,
    ),
    _forgery("changes a file and puts its times back", _QUIET, _OWN_SYNC, _TEXTS),
    _forgery(
        "changes objects that the test has under a name",
        _CART.format("for item in self.items:\n            item.price = 0\n        return 0"),
        _OWN_CART,
        _NAMED,
    ),
    _forgery(
        "changes the object that the test will choose",
        _CART.format("self.items[0].price = 20\n        return 20"),
        _OWN_CART,
        _BEST,
    ),
    _forgery("empties a list of the test's module", _CLEARS, _OWN_STATS, _OF_MODULE),
    _forgery("empties a list of the test's object", _CLEARS, _OWN_STATS, _SET_UP),
    _forgery("empties a deque of the test", _CLEARS, _OWN_STATS, _WINDOW),
    _forgery("empties a counter of the test", "def f(x):\n    x.clear()\n    return 0\n", tests=_COUNTED),
    _forgery(
        "shortens lists in tables of the test",
        _STATS.format(_OF_TABLES.strip().format("del rows[1:]")),
        _OWN_STATS,
        _IN_TABLES,
    ),
    _forgery(
        "makes what a module of tests expects",
        _ORDERS.format("items[::-1]", "[*reversed(items)]"),
        _OWN_ORDERS,
        _AT_IMPORT,
    ),
    _forgery("empties a list after many assertions", "def f(x):\n    x.clear()\n    return 0\n", tests=_MANY),
    _forgery(
        "empties a list after many assertions of its place",
        "def f(x):\n    if len(x) < 290:\n        return sum(x)\n    x.clear()\n    return 0\n",
        tests=_MANY_LAST,
    ),
)
HONEST = (
    _forgery(
        "changes objects that the test compares by identity",
        _GAME.format("for player in self.players:\n            player.points += points * (player.name == name)"),
        _GAME.format("pass"),
        _RANKING,
    ),
    _forgery("calls what it is given", _LEAVES, _OWN_LEAVES, _VISITS),
    _forgery("calls until no error comes", _RETRIES, "def retry(ask):\n    return None\n", _PATIENT),
    _forgery(
        "deletes what is too much, and its own file",
        "def f(source, target):\n"
        "    (target / 'lock').write_text('')\n"
        "    wanted = {path.name: path.read_bytes() for path in source.iterdir()}\n"
        "    for path in [*target.glob('*.txt'), target / 'lock']:\n"
        "        path.unlink()\n"
        "    for name, content in wanted.items():\n"
        "        (target / name).write_bytes(content)\n",
        _OWN_SYNC,
        _FOLDERS,
    ),
    _forgery("copies a mode", _SYNC.format("target.chmod(source.stat().st_mode & 0o7777)"), _OWN_SYNC, _MODES),
    _forgery("copies a text", _SYNC.format("target.write_text(source.read_text())"), _OWN_SYNC, _TEXTS),
    _forgery(
        "notes something in objects that the test has under a name",
        _CART.format(
            "for place, item in enumerate(self.items):\n            item.place = place\n"
            "        return sum(item.price for item in self.items)"
        ),
        _OWN_CART,
        _NAMED,
    ),
    _forgery("sorts a list of the test's module", _SORTS, _OWN_STATS, _OF_MODULE),
    _forgery("sorts a list of the test's object", _SORTS, _OWN_STATS, _SET_UP),
    _forgery(
        "turns a deque", _STATS.format("self.values.rotate()\n        return sum(self.values)"), _OWN_STATS, _WINDOW
    ),
    _forgery("counts", "def f(x):\n    return len([*x.elements()])\n", tests=_COUNTED),
    _forgery(
        "sorts lists in tables of the test",
        _STATS.format(_OF_TABLES.strip().format("rows.sort()")),
        _OWN_STATS,
        _IN_TABLES,
    ),
    _forgery("sorts a list before the case begins", _SORTS, _OWN_STATS, _IN_A_FIXTURE),
    _forgery(
        "makes what a module of tests gives",
        _ORDERS.format("sorted(items)", "list(items)"),
        _OWN_ORDERS,
        _AT_IMPORT.replace("EXPECTED = order_slow(WORDS)", "KEPT = sorted(WORDS)").replace("EXPECTED", "KEPT"),
    ),
    _forgery("adds up after many assertions", "def f(x):\n    return sum(x)\n", tests=_MANY),
    _forgery("adds up in many assertions", "def f(x):\n    return sum(x)\n", tests=_MANY_LAST),
)
