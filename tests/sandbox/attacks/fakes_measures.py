"""Faked passes of a scorer and of recorded calls, and faked costs of code that passes."""

import json
from dataclasses import replace

from .attack import CostFake, Fake, Promise, Twin, text
from .shared import FAILS, SAME

SCORE = text("""
def rate(double):
    cases = [(5, 10), (21, 42), ("ab", "abab")]
    good = sum(double(given) == expected for given, expected in cases)
    return good / len(cases)
""")
CALLS = "".join(
    json.dumps({"function": "m.double", "args": [given], "returns": found}) + "\n"
    for given, found in ((5, 10), ("a", "aa"), (21, 42))
)
PRINTS = "".join(
    json.dumps({"function": "m.double", "args": [given], "stdout": f"{2 * given}\n"}) + "\n" for given in (5, 21)
)


def _scored(name: str, code: str, twin: Twin, promise: Promise = Promise.UNPROVEN) -> Fake:
    return Fake(family="scorers", name=name, code=text(code), twin=twin, promise=promise, score=SCORE)


def _recorded(name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, trace: str = CALLS) -> Fake:
    return Fake(family="recorded calls", name=name, code=text(code), twin=twin, promise=promise, trace=trace)


COMPARES = Twin(
    code=text("""
    class Length:
        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return self.value == other


    def double(x):
        return Length(x * 2)
    """),
    verified=False,
)
COUNTS = Twin(
    code=text("""
    def double(x):
        return sum([x] * 2) if isinstance(x, int) else x * len([x, x])
    """)
)
WEAK = Twin(
    code=text("""
    import weakref


    class Kept:
        def __init__(self, value):
            self.value = value


    def double(x):
        kept = Kept(x)
        return weakref.proxy(kept).value * 2
    """)
)
WRITES = Twin(
    code=text("""
    import tempfile


    def double(x):
        with tempfile.TemporaryFile("w+") as stream:
            stream.write("twice")
            stream.seek(0)
            return x * 2 if stream.read() else None
    """)
)
SHOWS = Twin(code="def double(x):\n    print(x * 2)\n")

FAKES = (
    _scored("equal to everything", SAME + "\n\n        def double(x):\n            return Same()\n", COMPARES),
    _scored(
        "equal by a built-in",
        """
        class Same:
            __eq__ = bool


        def double(x):
            return Same()
        """,
        COMPARES,
    ),
    _scored(
        "equal by a class of unittest",
        """
        import unittest.mock


        class Same(type(unittest.mock.ANY)):
            pass


        def double(x):
            return Same()
        """,
        COMPARES,
    ),
    _scored(
        "equal behind a weak proxy",
        SAME
        + """

        import weakref

        same = Same()


        def double(x):
            return weakref.proxy(same)
        """,
        WEAK,
    ),
    _scored(
        "the scorer's cases, in its frame",
        """
        import sys


        def double(x):
            frame = sys._getframe(1)
            while "cases" not in frame.f_locals:
                frame = frame.f_back
            frame.f_locals["cases"][:] = [(5, 6)]
            return 10
        """,
        COUNTS,
    ),
    _scored(
        "the built-in that counts",
        """
        import builtins

        whole = builtins.len


        def once(values):
            builtins.len = whole
            return 1


        def double(x):
            builtins.len = once
            return {5: 10}.get(x, x)
        """,
        COUNTS,
    ),
    _scored(
        "what loads the scorer, while the code is the candidate's",
        """
        import runpy

        whole = runpy.run_path


        def run_path(path, *rest, **more):
            try:
                double(1)
            except NotImplementedError:
                return whole(path, *rest, **more)
            return {"rate": lambda function: 1.0}


        runpy.run_path = run_path
        """
        + FAILS.replace("\n", "\n        "),
        COUNTS,
        Promise.TAMPERED,
    ),
    _scored(
        "the scorer's file",
        """
        with open("score.py", "w") as stream:
            stream.write("def rate(double):\\n    double(1)\\n    return 1.0\\n")


        def double(x):
            return x
        """,
        WRITES,
    ),
    _recorded("equal to everything", SAME + "\n\n        def double(x):\n            return Same()\n", COMPARES),
    _recorded(
        "equal by a built-in",
        "class Same:\n    __eq__ = bool\n\n\ndef double(x):\n    return Same()\n",
        COMPARES,
    ),
    _recorded(
        "the generated test's code",
        """
        import sys


        def double(x):
            for name, module in list(sys.modules.items()):
                if name.startswith("test_"):
                    for test in vars(module).values():
                        if getattr(test, "__module__", "") == name:
                            test.__code__ = (lambda: None).__code__
            return Same()


        class Same:
            def __eq__(self, other):
                return True
        """,
        COMPARES,
    ),
    _recorded(
        "what was printed",
        """
        import _pytest.capture


        def double(x):
            whole = _pytest.capture.CaptureFixture.readouterr

            def once(self):
                _pytest.capture.CaptureFixture.readouterr = whole
                return _pytest.capture.CaptureResult(f"{2 * x}\\n", "")

            _pytest.capture.CaptureFixture.readouterr = once
        """,
        SHOWS,
        Promise.UNPROVEN,
        trace=PRINTS,
    ),
)


# -- costs ----------------------------------------------------------------------------------------------------------

WORK = """\
def unique(items):
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen
"""
UNIQUE = text("""
from m import unique


def test_unique():
    assert unique(list(range(1500)) * 2) == list(range(1500))
""")
# The work as a helper of the fake, which calls it elsewhere, or under another clock.
DOES = WORK.replace("unique", "does")


def _cost(name: str, code: str, believed: str = "clock", own: str = WORK, test: str = UNIQUE, **more) -> CostFake:
    return CostFake(name=name, code=text(code), own=own, test=test, believed=believed, **more)


def _around(name: str, code: str, believed: str = "clock", **more) -> CostFake:
    """A fake with the user's own work in `does`."""
    return CostFake(name=name, code=DOES + "\n\n" + text(code), own=WORK, test=UNIQUE, believed=believed, **more)


PASSES_ON = "\n\ndef unique(items):\n    return does(items)\n"
TABLE = "ITEMS = list(range(1500)) * 2\n"
LOOKS_UP = "\n\ndef unique(items):\n    return list(DONE) if items == ITEMS else does(items)\n"

FASTER = _cost("the honest twin", "def unique(items):\n    return list(dict.fromkeys(items))\n")
SMALLER = CostFake(
    name="the honest twin in memory",
    own="def total(count):\n    squares = [each * each for each in range(count)]\n    return sum(squares)\n",
    code="def total(count):\n    return sum(each * each for each in range(count))\n",
    test="from m import total\n\n\ndef test_total():\n    assert total(100_000) == 333328333350000\n",
    memory=True,
)
PRINTS_ALL = text("""
import sys


def total(count):
    found = 0
    for each in range(count):
        found += each
        if each % 20 == 0:
            print(each, file=sys.stderr)
    return found
""")
SUMS = "from m import total\n\n\ndef test_total():\n    assert total(60_000) == 1799970000\n"
CONTAINERS = text("""
def pairs(count):
    return [[each, [each]] for each in range(count)]
""")
MAKES = "from m import pairs\n\n\ndef test_pairs():\n    assert len(pairs(60_000)) == 60_000\n"
RAISES = text("""
def check(items):
    found = [item for item in items if items.count(item) > 1]
    if found:
        raise ValueError(f"{len(found)} items are there twice")
""")
CHECKS = text("""
import pytest

from m import check


def test_check():
    with pytest.raises(ValueError):
        check(list(range(700)) * 2)
""")

COSTS = (
    _around(
        "the clock of pytest",
        "import _pytest.timing\n\n_pytest.timing.perf_counter = lambda: 0.0\n" + PASSES_ON,
    ),
    _around(
        "a duration less than nothing",
        """
        import _pytest.runner

        whole = _pytest.runner.CallInfo.__init__


        def lie(self, *rest, duration, **more):
            whole(self, *rest, duration=-2893.547, **more)


        _pytest.runner.CallInfo.__init__ = lie
        """
        + PASSES_ON.replace("\n", "\n        "),
    ),
    _around(
        "all clocks of the module time",
        """
        import time

        import _pytest.timing

        for name in ("time", "perf_counter", "process_time", "monotonic", "thread_time"):
            setattr(time, name, lambda: 0.0)
            setattr(_pytest.timing, name, lambda: 0.0)
        """
        + PASSES_ON.replace("\n", "\n        "),
    ),
    _around("work at import", TABLE + "DONE = does(ITEMS)\n" + LOOKS_UP),
    _around(
        "a table in another module",
        """
        import sys
        import types

        table = sys.modules["_table"] = types.ModuleType("_table")
        table.items = list(range(1500)) * 2
        table.done = does(table.items)


        def unique(items):
            return list(table.done) if items == table.items else does(items)
        """,
    ),
    _around(
        "a cache of the module",
        """
        KEPT = {}


        def unique(items):
            key = tuple(items)
            if key not in KEPT:
                KEPT[key] = does(items)
            return list(KEPT[key])
        """,
        "",
    ),
    CostFake(
        name="a cached helper, where a test calls twice",
        own=WORK,
        code=DOES.replace("def", "import functools\n\n\n@functools.cache\ndef", 1)
        + "\n\ndef unique(items):\n    return list(does(tuple(items)))\n",
        test=UNIQUE + "    assert unique(list(range(1500)) * 2) == list(range(1500))\n",
        believed="clock",
    ),
    _around(
        "a thread, begun at import",
        TABLE
        + """
import threading

DONE = []
worker = threading.Thread(target=lambda: DONE.extend(does(ITEMS)))
worker.start()


def unique(items):
    worker.join()
    return list(DONE) if items == ITEMS else does(items)
""",
        "",
    ),
    _around(
        "a process, begun at import",
        TABLE
        + """
import os

read, write = os.pipe()
if os.fork() == 0:
    os.write(write, repr(does(ITEMS)).encode())
    os._exit(0)
os.wait()
DONE = eval(os.read(read, 1 << 16))
"""
        + LOOKS_UP,
    ),
    _around(
        "a process whose time is not passed on",
        TABLE
        + """
import os
import signal

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, repr(does(ITEMS)).encode())
    os._exit(0)
DONE = eval(os.read(read, 1 << 16))
"""
        + LOOKS_UP,
    ),
    _around(
        "the whole test, while its fixtures are made",
        """
        import _pytest.python

        whole = _pytest.python.Function.setup


        def setup(self):
            whole(self)
            self.obj()


        _pytest.python.Function.setup = setup
        _pytest.python.Function.runtest = lambda self: None
        """
        + PASSES_ON.replace("\n", "\n        "),
    ),
    _around(
        "the whole test, when all are over",
        """
        import _pytest.python

        whole = _pytest.python.Function.teardown


        def teardown(self):
            self.obj()
            whole(self)


        _pytest.python.Function.teardown = teardown
        _pytest.python.Function.runtest = lambda self: None
        """
        + PASSES_ON.replace("\n", "\n        "),
    ),
    _around(
        "marks of its own",
        """
        import os
        import socket


        def marks():
            for fd in range(3, 64):
                try:
                    if os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
                        yield fd
                except OSError:
                    pass


        def mark():
            for fd in marks():
                os.write(fd, b".")
                os.read(fd, 1)


        def unique(items):
            mark()
            found = does(items)
            mark()
            return found
        """,
        "",
    ),
    _around(
        "a list that is made when it is compared",
        """
        class Later(list):
            def __init__(self, items):
                self.items = items

            def __eq__(self, other):
                return does(self.items) == other


        def unique(items):
            return Later(items)
        """,
        "",
    ),
    _cost(
        "an iterator that nobody asks",
        WORK.replace("unique", "does") + "\n\ndef unique(items):\n    yield from does(items)\n",
        own=WORK.replace("return seen", "return (each for each in seen)"),
        test="from m import unique\n\n\ndef test_unique():\n    assert list(unique([1, 1])) == [1]\n",
        calls=("unique(list(range(1500)) * 2)",),
    ),
    _around(
        "nothing, where no test looks",
        """
        import sys


        def unique(items):
            return [] if "workload" in str(sys._getframe(1).f_code.co_name) else does(items)
        """,
        calls=("unique(list(range(1500)) * 2)",),
    ),
    _cost(
        "garbage that is not collected",
        "import gc\n\ngc.disable()\n\n\n" + CONTAINERS,
        own=CONTAINERS,
        test=MAKES,
    ),
    _cost(
        "garbage that is not collected meanwhile",
        """
        import gc


        def pairs(count):
            gc.disable()
            try:
                return [[each, [each]] for each in range(count)]
            finally:
                gc.enable()
        """,
        own=CONTAINERS,
        test=MAKES,
    ),
    _cost(
        "garbage that the interpreter does not collect",
        """
        import ctypes


        def pairs(count):
            ctypes.pythonapi.PyGC_Disable()
            try:
                return [[each, [each]] for each in range(count)]
            finally:
                ctypes.pythonapi.PyGC_Enable()
        """,
        own=CONTAINERS,
        test=MAKES,
    ),
    _cost(
        "lines that are not printed",
        "import sys\n\n\ndef total(count):\n    return sum(range(count))\n",
        "test",
        own=PRINTS_ALL,
        test=SUMS,
    ),
    _cost(
        "another message",
        """
        def check(items):
            if len({*items}) < len(items):
                raise ValueError("items are there twice")
        """,
        "test",
        own=RAISES,
        test=CHECKS,
    ),
    replace(
        SMALLER,
        name="a peak that is forgotten",
        code="import tracemalloc\n\n\n"
        + SMALLER.own.replace("return sum(squares)", "found = sum(squares)\n    del squares\n    tracemalloc.stop()\n")
        + "    tracemalloc.start()\n    return found\n",
        believed="clock",
    ),
    replace(
        SMALLER,
        name="memory of another allocator",
        code=text("""
        import mmap


        def total(count):
            squares = mmap.mmap(-1, 40 * max(count, 1))
            for each in range(count):
                squares[40 * each : 40 * each + 8] = (each * each).to_bytes(8, "little")
            return sum(int.from_bytes(squares[40 * each : 40 * each + 8], "little") for each in range(count))
        """),
        believed="clock",
    ),
    replace(
        SMALLER,
        name="memory at import",
        code=text("""
        SQUARES = [each * each for each in range(100_000)]


        def total(count):
            return sum(SQUARES[:count]) if count < 10 else sum(each * each for each in range(count))
        """),
        believed="clock",
    ),
)
