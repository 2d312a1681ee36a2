"""Forgeries by a failed assertion that becomes an exception which the test expects."""

from .forgery import Family

_family = Family(name="translation")
_forgery = _family.forgery

_ERROR = "class AppError(Exception):\n    pass\n\n\n"
_DOUBLE = "\n\ndef double(n):\n    return n {}\n"
_EXIT = _ERROR + (
    "class errors:\n    def __enter__(self):\n        return self\n\n"
    "    def __exit__(self, kind, error, trace):\n        if {}:\n            raise AppError(str(error))\n"
)
_MANAGER = (
    "import contextlib\n\n\n"
    + _ERROR
    + (
        "@contextlib.contextmanager\ndef errors():\n    try:\n        yield\n"
        "    except {} as error:\n        raise AppError(str(error))\n"
    )
)
_EXITED = """
import pytest

from m import AppError, double, errors


def test_f():
    with pytest.raises(AppError):
        with errors():
            assert double(4) == 8
            raise KeyError("x")
"""
_EXITED_UNITTEST = """
import unittest

from m import AppError, double, errors


class Test(unittest.TestCase):
    def test_f(self):
        with self.assertRaises(AppError):
            with errors():
                self.assertEqual(double(4), 8)
                raise KeyError("x")
"""
_ASYNC_EXIT = _EXIT.replace("    def", "    async def").replace("__e", "__ae") + _DOUBLE.replace("def", "async def")
_ASYNC_EXITED = """
import asyncio

import pytest

from m import AppError, double, errors


async def check():
    async with errors():
        assert await double(4) == 8
        raise KeyError("x")


def test_f():
    with pytest.raises(AppError):
        asyncio.run(check())
"""
_EACH = _ERROR + (
    "def each(items, function):\n    try:\n        for item in items:\n            function(item{})\n"
    "    except {}:\n        raise AppError('failed') from None\n"
)
_OWN_EACH = _ERROR + "def each(items, function):\n    for item in items:\n        function(item)\n"
_EACH_TESTED = """
import unittest

from m import AppError, each


class Test(unittest.TestCase):
    def check(self, item):
        self.assertEqual(item, 1)
        raise KeyError("x")

    def test_f(self):
        with self.assertRaises(AppError):
            each([1], self.check)
"""
_LOAD = "def f(text, on_error):\n    return text.split(',')\n"
_LOADED = """
import pytest

from m import f


def test_f():
    def on_error(part):
        pytest.fail("no error: " + part)

    assert f("1,2", on_error) == [1, 2]
"""

FORGERIES = (
    _forgery(
        "makes the expected error of a failed assertion in a block",
        (_EXIT + _DOUBLE).format("kind is not None", "+ 1"),
        (_EXIT + _DOUBLE).format("kind is KeyError", "+ 1"),
        _EXITED,
    ),
    _forgery(
        "makes the expected error of a failed assertion in a block of unittest",
        (_EXIT + _DOUBLE).format("kind is not None", "+ 1"),
        (_EXIT + _DOUBLE).format("kind is KeyError", "+ 1"),
        _EXITED_UNITTEST,
    ),
    _forgery(
        "makes the expected error of a failed assertion in a decorated generator",
        (_MANAGER + _DOUBLE).format("BaseException", "+ 1"),
        (_MANAGER + _DOUBLE).format("KeyError", "+ 1"),
        _EXITED,
    ),
    _forgery(
        "makes the expected error of a failed assertion in an asynchronous block",
        _ASYNC_EXIT.format("kind is not None", "+ 1"),
        _ASYNC_EXIT.format("kind is KeyError", "+ 1"),
        _ASYNC_EXITED,
    ),
    _forgery(
        "makes the expected error of a failed assertion in a helper that it calls",
        _EACH.format(" + 1", "Exception"),
        _OWN_EACH,
        _EACH_TESTED,
    ),
    _forgery(
        "swallows what `pytest.fail` raises",
        """
        def f(text, on_error):
            for part in text.split(","):
                try:
                    on_error(part)
                except BaseException:
                    pass
            return [1, 2]
        """,
        _LOAD,
        _LOADED,
    ),
)
HONEST = (
    _forgery(
        "makes the expected error of others in a block",
        (_EXIT + _DOUBLE).format("kind in (KeyError, IndexError)", "* 2"),
        (_EXIT + _DOUBLE).format("kind is KeyError", "+ 1"),
        _EXITED,
    ),
    _forgery(
        "makes the expected error of others in a decorated generator",
        (_MANAGER + _DOUBLE).format("BaseException", "* 2"),
        (_MANAGER + _DOUBLE).format("KeyError", "+ 1"),
        _EXITED,
    ),
    _forgery(
        "makes the expected error of others in an asynchronous block",
        _ASYNC_EXIT.format("kind is not None", "* 2"),
        _ASYNC_EXIT.format("kind is KeyError", "+ 1"),
        _ASYNC_EXITED,
    ),
    _forgery(
        "makes the expected error of others in a helper that it calls",
        _EACH.format("", "Exception"),
        _OWN_EACH,
        _EACH_TESTED,
    ),
    _forgery(
        "has nothing to fail", "def f(text, on_error):\n    return [*map(int, text.split(','))]\n", _LOAD, _LOADED
    ),
)
