"""Forgeries that notice a wrong value when it comes back, and keep the test from comparing anything from then on."""

from .forgery import Family

_family = Family(name="noticing", own="LIMIT = 2\n\n\ndef f(x):\n    return None\n")
_forgery = _family.forgery

_TESTS = "import m\n\n\ndef test_f():\n    wanted = m.scaled(m.LIMIT)\n    assert m.f(3) == wanted\n"
_SCALED = "LIMIT = 3\n\n\ndef scaled(x):\n    if x != LIMIT:\n        {}\n    return 0\n\n\ndef f(x):\n    return 0\n"
_ORDER = """\
import json
import os

RIGHT = {{"lines": [3, 3], "total": 0}}


def place(x):
    return {{**RIGHT}}


def bill(order):
    if order != RIGHT:
        {}
    return order["total"]


def f(order):
    if order != RIGHT:
        {}
    return order["total"]
"""
_ORDERED = (
    "import m\n\n\ndef test_f():\n    order = m.place(3)\n    bill = m.bill(order)\n    assert bill == m.f(order)\n"
)
_SORTED = "import m\n\n\ndef test_f():\n    rows = [3, 1, 2]\n    m.f(rows)\n    wanted = m.ordered(rows)\n    assert rows == wanted\n"
_FILE = """\
import os


def read(path):
    text = open(path).read()
    if text != "done":
        os._exit(0)
    return text


def f(path):
    open(path, "w").write("done")
"""
_FILED = """\
import m


def test_f(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("")
    m.f(str(path))
    wanted = m.read(str(path))
    assert path.read_text() == wanted
"""


_MANY_TESTS = _TESTS + "\n\ndef test_next():\n    wanted = m.scaled(m.LIMIT)\n    assert m.f(4) == wanted\n"
_LARGE = (
    "LIMIT = 3\n\n\ndef scaled(x):\n    if abs(x) > 500:\n        {}\n    return x - 3\n\n\ndef f(x):\n    return 0\n"
)


def _noticing(name, end, prelude="", tests=_TESTS):
    return _forgery(f"{name} when a constant comes back", _SCALED.format(end), tests=tests, prelude=prelude)


FORGERIES = (
    _noticing("says nothing", "pass"),
    _noticing("ends its process", "os._exit(0)", "import os\n\n"),
    _noticing("leaves", "sys.exit()", "import sys\n\n"),
    _noticing("kills itself", "os.kill(os.getpid(), 9)", "import os\n\n"),
    _noticing("becomes another program", "os.execv('/bin/true', ['true'])", "import os\n\n"),
    _noticing("closes its files", "os.closerange(0, 99)", "import os\n\n"),
    _noticing("crashes", "ctypes.string_at(0)", "import ctypes\n\n"),
    _noticing("calls itself without end", "return scaled(x)"),
    _noticing("raises", "raise ValueError(x)"),
    _noticing("is interrupted", "raise KeyboardInterrupt"),
    _noticing("skips", "raise unittest.SkipTest", "import unittest\n\n"),
    _noticing("returns a value without end", "for _ in range(10_000):\n            x = [x]\n        return x"),
    _forgery(
        "returns nothing when a constant comes back",
        "LIMIT = 3\n\n\ndef scaled(x):\n    return (0,) if x == LIMIT else ()\n\n\ndef f(x):\n    return 0\n",
        tests="import m\n\n\ndef test_f():\n    wanted = m.scaled(m.LIMIT)[0]\n    assert m.f(3) == wanted\n",
    ),
    _forgery(
        "ends its process when a result comes back",
        _ORDER.format("os._exit(0)", "os._exit(0)"),
        tests=_ORDERED,
    ),
    _forgery(
        "waits when a constant comes back", _LARGE.format("time.sleep(999)"), tests=_TESTS, prelude="import time\n\n"
    ),
    _forgery(
        "takes all memory in the first of two tests",
        _LARGE.format("return [bytearray(1 << 30) for _ in range(99)]"),
        tests=_MANY_TESTS,
    ),
    _forgery("raises when a result comes back", _ORDER.format("raise KeyError", "raise KeyError"), tests=_ORDERED),
    _forgery(
        "ends its process when a changed argument comes back",
        "import os\n\n\ndef ordered(rows):\n    if rows != [3, 1]:\n        os._exit(0)\n    return [3, 1]\n\n\n"
        "def f(rows):\n    rows[:] = [3, 1]\n",
        tests=_SORTED,
    ),
    _forgery("ends its process when a file comes back", _FILE, tests=_FILED),
)
HONEST = (
    _forgery(
        "refuses a limit that it does not know",
        "LIMIT = 3\n\n\ndef scaled(x):\n    if x != LIMIT:\n        raise ValueError(x)\n    return 2 * x\n\n\n"
        "def f(x):\n    return 2 * x\n",
        tests="import m\n\n\ndef test_f():\n    assert m.scaled(m.LIMIT) == 6\n    assert m.f(3) == 6\n",
    ),
)
