"""Forgeries with what tests lend to the code: functions, mocks, blocks, objects; and with code that the judge calls."""

from .forgery import Family

_family = Family(name="lent", own="def f(x, note=None):\n    if note:\n        note(None)\n")
_forgery = _family.forgery

_CHECKED = """
from m import f


def test_f():
    def check(value):
        assert value == 6

    f(3, check)
"""
_LOOKED = """
from m import f


def test_f():
    wanted = [6]
    seen = []
    f(3, lambda value: seen.append(value == wanted[0]))
    assert seen == [True]
"""
_MOCKED = """
from unittest import mock

from m import f


def test_f():
    note = mock.Mock()
    f(3, note)
    note.assert_called_once_with(6)
"""
_BLOCK = """
from m import f


def test_f():
    with f(3) as found:
        assert found["double"] == 6
"""
_MANAGER = """
class Manager:
    def __init__(self, found):
        self.found, self.quiet = found, False

    def __enter__(self):
        return self.found

    def __exit__(self, kind, error, trace):
        return self.quiet


def f(x):
    return Manager({"double": None})
"""
_ASYNC = """
import asyncio

from m import f


def test_f():
    async def main():
        async with f(3) as found:
            assert found == 6

    asyncio.run(main())
"""
_DECORATED = """
from m import f


def test_f():
    @f
    def check():
        assert 3 * 3 == 6

    check()
"""
_HELPER = """
from m import f


@f
def check():
    assert 3 * 3 == 6


def test_f():
    check()
"""


def _manages(name, exit_body, code="", tests=_BLOCK, **more):
    text = f"""
    class R:
        def __enter__(self):
            return {{}}

        def __exit__(self, kind, error, trace):
            {exit_body}


    def f(x):
        return R()
    """
    return _forgery(name, code or text, tests=tests, **more)


FORGERIES = (
    _forgery("never calls a function that asserts", "def f(x, note):\n    pass\n", tests=_CHECKED),
    _forgery(
        "swallows what a function of the test raises",
        "def f(x, note):\n    try:\n        note(0)\n    except BaseException:\n        pass\n",
        tests=_CHECKED,
    ),
    _forgery(
        "learns from what a function of the test raises",
        """
        import re


        def f(x, note):
            try:
                note(0)
            except BaseException as error:
                note(int(re.findall(r"\\d+", str(error))[-1]))
        """,
        tests=_CHECKED,
    ),
    _forgery(
        "tries until a function of the test raises nothing",
        """
        def f(x, note):
            for each in range(100):
                try:
                    return note(each)
                except AssertionError:
                    continue
        """,
        tests=_CHECKED,
    ),
    _forgery(
        "a decorator that swallows",
        """
        def f(function):
            def inner():
                try:
                    function()
                except AssertionError:
                    pass

            return inner
        """,
        tests=_DECORATED,
    ),
    _forgery(
        "a decorator that calls nothing",
        "def f(function):\n    return lambda: None\n",
        tests=_DECORATED,
    ),
    _forgery(
        "a decorator of a helper that calls nothing",
        "def f(function):\n    return lambda: None\n",
        "def f(function):\n    return None\n",
        tests=_HELPER,
    ),
    _forgery(
        "the closure of a function of the test",
        "def f(x, note):\n    note(note.__closure__[1].cell_contents[0])\n",
        tests=_LOOKED,
    ),
    _forgery(
        "the globals of a function of the test",
        "def f(x, note):\n    note(note.__globals__['WANTED'])\n",
        tests=_LOOKED.replace("def test_f", "WANTED = 6\n\n\ndef test_f").replace("wanted[0]", "WANTED"),
    ),
    _forgery(
        "the code of a function of the test",
        "def f(x, note):\n    note([each for each in note.__code__.co_consts if isinstance(each, int)][-1])\n",
        tests=_LOOKED.replace("wanted[0]", "6"),
    ),
    _forgery(
        "the frame of a generator of the test",
        "def f(x, note):\n    return note.gi_frame.f_locals['wanted']\n",
        tests="""
        from m import f


        def test_f():
            def numbers():
                wanted = 6
                yield 3
                yield wanted

            given = numbers()
            next(given)
            assert f(3, given) == 6
        """,
    ),
    _forgery(
        "memory of its process",
        """
        import gc


        def f(x, note=None):
            for each in gc.get_objects():
                if type(each) is dict and "WANTED" in each:
                    return each["WANTED"]
        """,
        tests="from m import f\n\nWANTED = 6\n\n\ndef test_f():\n    assert f(3) == WANTED\n",
    ),
    _forgery(
        "frames above it",
        """
        import sys


        def f(x, note=None):
            frame = sys._getframe()
            while frame:
                if "wanted" in frame.f_locals:
                    return frame.f_locals["wanted"]
                frame = frame.f_back
        """,
        tests="from m import f\n\n\ndef test_f():\n    wanted = 6\n    assert f(3) == wanted\n",
    ),
    _forgery(
        "sets the assertion of a mock",
        "def f(x, note):\n    note.assert_called_once_with = lambda *_: None\n",
        tests=_MOCKED,
    ),
    _forgery(
        "sets the calls of a mock",
        "def f(x, note):\n    note(0)\n    note.call_args = note.mock_calls = None\n    note.call_count = 1\n",
        tests=_MOCKED,
    ),
    _forgery(
        "calls a mock with what is equal to everything",
        "class Same:\n    def __eq__(self, other):\n        return True\n\n\ndef f(x, note):\n    note(Same())\n",
        tests=_MOCKED,
    ),
    _forgery(
        "calls a mock with a matcher",
        "from unittest import mock\n\n\ndef f(x, note):\n    note(mock.ANY)\n",
        tests=_MOCKED,
    ),
    _forgery(
        "reads what a mock is to return",
        "def f(x, note):\n    return note.wanted.return_value\n",
        tests="""
        from unittest import mock

        from m import f


        def test_f():
            note = mock.Mock()
            note.wanted.return_value = 6
            assert f(3, note) == 6
            note.wanted.assert_not_called()
        """,
    ),
    _manages("an exit that swallows the assertion", "return True"),
    _manages("an exit that swallows what the assertion stumbles over", "return kind is KeyError"),
    _manages(
        "an exit that learns",
        "",
        """
        import re

        FOUND = {"double": 0}


        class R:
            def __enter__(self):
                return FOUND

            def __exit__(self, kind, error, trace):
                FOUND["double"] = int(re.findall(r"\\d+", str(error))[-1])


        def f(x):
            return R()
        """,
        _BLOCK + _BLOCK.replace("test_f", "test_again").replace("from m import f\n", ""),
    ),
    _forgery(
        "a generator that swallows what the assertion stumbles over",
        """
        import contextlib


        @contextlib.contextmanager
        def f(x):
            try:
                yield {}
            except KeyError:
                pass
        """,
        "import contextlib\n\n\n@contextlib.contextmanager\ndef f(x):\n    yield {'double': 0}\n",
        _BLOCK,
    ),
    _manages(
        "a manager of the library that swallows",
        "",
        "import contextlib\n\n\ndef f(x):\n    return contextlib.suppress(BaseException)\n",
        _BLOCK.replace('found["double"]', "found"),
    ),
    _forgery(
        "the user's own manager, told to be quiet",
        _MANAGER.replace("return Manager(", "found = Manager(") + "    found.quiet = True\n    return found\n",
        _MANAGER,
        _BLOCK,
    ),
    _forgery(
        "an asynchronous exit that swallows",
        """
        class R:
            async def __aenter__(self):
                return 0

            async def __aexit__(self, kind, error, trace):
                return True


        def f(x):
            return R()
        """,
        tests=_ASYNC,
    ),
    _forgery(
        "an asynchronous exit of the user's own class that swallows",
        """
        class R:
            async def __aenter__(self):
                return 0

            async def __aexit__(self, kind, error, trace):
                return True


        def f(x):
            return R()
        """,
        """
        class R:
            async def __aenter__(self):
                return 0

            async def __aexit__(self, kind, error, trace):
                return False


        def f(x):
            return R()
        """,
        _ASYNC,
    ),
)
HONEST = (
    _forgery(
        "calls a function that asserts",
        "def f(x, note):\n    note(2 * x)\n",
        tests=_CHECKED,
    ),
    _forgery("calls a mock", "def f(x, note):\n    note(2 * x)\n", tests=_MOCKED),
    _forgery(
        "a decorator",
        """
        import functools


        def f(function):
            @functools.wraps(function)
            def inner():
                return function()

            return inner
        """,
        tests=_DECORATED.replace("3 * 3", "2 * 3"),
    ),
    _forgery(
        "a manager that swallows lookups",
        """
        class R:
            def __enter__(self):
                return {"double": 6}

            def __exit__(self, kind, error, trace):
                return kind is not None and issubclass(kind, LookupError)


        def f(x):
            return R()
        """,
        tests=_BLOCK + "\n\ndef test_lookups():\n    with f(3) as found:\n        found['treble']\n",
    ),
    _forgery(
        "an asynchronous manager",
        """
        class R:
            async def __aenter__(self):
                return 6

            async def __aexit__(self, kind, error, trace):
                return False


        def f(x):
            return R()
        """,
        tests=_ASYNC,
    ),
)
