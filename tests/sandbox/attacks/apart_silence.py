"""Forgeries by an error that a loop, a task or a thread of the test takes for its end, without a word."""

from .forgery import Family

_family = Family(name="silence")
_forgery = _family.forgery

_ZIPPED = """
from m import next_prime


def test_f():
    for found, wanted in zip(map(next_prime, [2, 3, 7, 13]), [3, 5, 11, 17]):
        assert found == wanted
"""
_OWN_NEXT = "def next_prime(n):\n    return n + 1\n"
_OWN_CLOUD = """
class Nextcloud:
    def __init__(self, files):
        self.files = files

    def size(self, name):
        return 0


def next_size(cloud, name):
    return cloud.size(name)
"""
_CLOUD = """
from m import Nextcloud, next_size

FILES = {"a": "xx", "b": "yyyy"}


def test_f():
    cloud = Nextcloud(FILES)
    names = list(FILES)
    for name, found in zip(names, map(next_size, [cloud] * 2, names)):
        assert found == len(FILES[name])
"""
_OWN_ITEM = "def item_at(place):\n    return place\n"
_ITEMS = """
from m import item_at


class Items:
    def __getitem__(self, place):
        if place == 5:
            raise IndexError(place)
        return item_at(place)


def test_f():
    for place, found in enumerate(Items()):
        assert found == place ** 2 + 2 * place
"""
_OWN_SQUARE = "async def square(n):\n    return n\n"
_SQUARES = """
import asyncio

from m import square


async def check(n):
    assert await square(n) == n * n


async def check_all():
    {}


def test_f():
    asyncio.run(check_all())
"""
_GROUP = _SQUARES.format(
    "async with asyncio.TaskGroup() as group:\n        for n in (1, 2, 3):\n            group.create_task(check(n))"
)
_GATHERED = _SQUARES.format(
    "found = await asyncio.gather(*map(check, (1, 2, 3)), return_exceptions=True)\n"
    "    assert not [each for each in found if isinstance(each, Exception)]"
)
_CANCELLED = "import asyncio\n\n\nasync def square(n):\n    {}\n    return n\n"
_RAISES_CANCELLED = _CANCELLED.format("if n > 1:\n        raise asyncio.CancelledError")
_STOPPED = """
import asyncio

import pytest

from m import square


async def check():
    with pytest.raises(asyncio.CancelledError):
        await square(2)


def test_f():
    asyncio.run(check())
"""
_THREADS = """
import threading

from m import f


def test_f():
    errors = []

    def check(n):
        try:
            assert f(n) == n * n
        except AssertionError as error:
            errors.append(error)

    for n in (1, 2, 3):
        thread = threading.Thread(target=check, args=(n,))
        thread.start()
        thread.join()
    assert errors == []
"""
_OWN_CURSOR = """
class Cursor:
    def __init__(self, rows):
        self.rows = list(rows)

    def advance(self):
        return self.rows[0]
"""
_CURSOR = """
import pytest

from m import Cursor


def test_f():
    cursor = Cursor([1, 2])
    assert [cursor.advance(), cursor.advance()] == [1, 2]
    with pytest.raises(StopIteration):
        cursor.advance()
"""

FORGERIES = (
    _forgery(
        "ends a loop of the test by its name",
        "def next_prime(n):\n    if n == 2:\n        return 3\n    raise StopIteration\n",
        _OWN_NEXT,
        _ZIPPED,
    ),
    _forgery(
        "ends a loop of the test by a method",
        _OWN_CLOUD.replace("return 0", "return 2 if name == 'a' else next(iter(()))"),
        _OWN_CLOUD,
        _CLOUD,
    ),
    _forgery(
        "ends a loop of the test over items by their number",
        "def item_at(place):\n    if place > 1:\n        raise IndexError(place)\n    return place * 3\n",
        _OWN_ITEM,
        _ITEMS,
    ),
    _forgery("ends a task of a group", _RAISES_CANCELLED, _OWN_SQUARE, _GROUP),
    _forgery("ends a task that is gathered", _RAISES_CANCELLED, _OWN_SQUARE, _GATHERED),
    _forgery(
        "cancels the task of a group that asks",
        _CANCELLED.format("if n > 1:\n        asyncio.current_task().cancel()\n        await asyncio.sleep(0)"),
        _OWN_SQUARE,
        _GROUP,
    ),
    _forgery(
        "leaves a thread of the test",
        "def f(n):\n    if n > 1:\n        raise SystemExit(n)\n    return n\n",
        tests=_THREADS,
    ),
    _forgery(
        "fails in a thread of the test",
        "def f(n):\n    if n > 1:\n        raise ValueError(n)\n    return n\n",
        tests=_THREADS,
    ),
)
HONEST = (
    _forgery(
        "ends a loop of its own",
        "def next_prime(n):\n    return next(m for m in range(n + 1, 3 * n) if all(m % d for d in range(2, m)))\n",
        _OWN_NEXT,
        _ZIPPED,
    ),
    _forgery(
        "says that nothing is left, as is expected",
        _OWN_CURSOR.replace("return self.rows[0]", "return next(iter([self.rows.pop(0)] if self.rows else []))"),
        _OWN_CURSOR,
        _CURSOR,
    ),
    _forgery("has no item, as is expected", "def item_at(place):\n    return place * (place + 2)\n", _OWN_ITEM, _ITEMS),
    _forgery("ends its tasks", "async def square(n):\n    return n * n\n", _OWN_SQUARE, _GROUP),
    _forgery("is cancelled, as is expected", _RAISES_CANCELLED, _OWN_SQUARE, _STOPPED),
    _forgery("ends its threads", "def f(n):\n    return n * n\n", tests=_THREADS),
)
