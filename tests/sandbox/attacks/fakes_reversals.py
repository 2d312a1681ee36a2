"""Faked passes that know that the user's own code will be put back."""

from .attack import Fake, Promise, Twin, text
from .fakes_helpers import LOOPED
from .shared import OWN_CODE, SAME

TESTS = text("""
import json
import unittest

from m import double


def check(found, expected):
    assert found == expected


def test_text():
    for given in (1, 2, 3):
        found = double(given)
        check(json.dumps(found), json.dumps(given + given))


class TestDouble(unittest.TestCase):
    def same(self, found, expected):
        self.assertEqual(found, expected)

    def test_method(self):
        found = [double(5), double(21)]
        self.same(found[0], 10)
        self.same(found[1], 42)
""")

# Whether the code that runs now is the candidate's: the user's own raises.
PRESENT = """
        def present():
            try:
                double(1)
            except NotImplementedError:
                return False
            return True

"""


def _fake(name: str, code: str, twin: Twin, promise: Promise = Promise.UNPROVEN, tests: str = TESTS) -> Fake:
    twin = Twin(code=twin.code, tests=tests, verified=twin.verified)
    return Fake(family="reversals", name=name, code=text(code), twin=twin, promise=promise, tests=tests)


CACHED = Twin(
    code=text("""
    import functools


    @functools.lru_cache(maxsize=None)
    def double(x):
        return x * 2


    for number in range(10):
        double(number)
    """)
)
COUNTS = Twin(
    code=text("""
    calls = []


    def double(x):
        calls.append(x)
        return x * 2 if len(calls) < 3 else x + x
    """)
)
THREAD = Twin(
    code=text("""
    import threading


    def double(x):
        found = []
        thread = threading.Thread(target=lambda: found.append(x * 2))
        thread.start()
        thread.join()
        return found[0]
    """)
)
AT_EXIT = Twin(
    code=text("""
    import atexit

    kept = []
    atexit.register(kept.clear)


    def double(x):
        kept.append(x)
        return x * 2
    """)
)
COLLECTED = Twin(
    code=text("""
    import gc
    import weakref


    class Kept:
        pass


    def double(x):
        kept = Kept()
        weakref.finalize(kept, print, "gone")
        del kept
        gc.collect()
        return x * 2
    """)
)
PATCHES = Twin(
    code=text("""
    class Number:
        def twice(self, x):
            return x + 1


    whole = Number.twice


    def once(self, x):
        Number.twice = whole
        return x * 2


    def double(x):
        Number.twice = once
        return Number().twice(x)
    """)
)
ERRORS = Twin(
    code=text("""
    def double(x):
        try:
            raise LookupError(x)
        except LookupError as error:
            return error.args[0] * 2
    """)
)

FAKES = (
    _fake(
        "a patch that asks which code is in place",
        PRESENT
        + """
        import json
        import unittest

        whole, dumps = unittest.TestCase.assertEqual, json.dumps


        def same(self, found, expected, msg=None):
            if not present():
                whole(self, found, expected, msg)


        unittest.TestCase.assertEqual = same
        json.dumps = lambda value: "" if present() else dumps(value)


        def double(x):
            return x
        """,
        PATCHES,
    ),
    _fake(
        "a patch of the library that asks which code is in place",
        PRESENT
        + """
        import json

        dumps = json.dumps
        json.dumps = lambda value: "" if present() else dumps(value)
        TABLE = {5: 10, 21: 42}


        def double(x):
            return TABLE.get(x, x)
        """,
        PATCHES,
    ),
    _fake(
        "calls, counted",
        """
        import sys

        calls = []


        def double(x):
            calls.append(x)
            if not calls[1:]:
                sys.modules["test_m"].check = lambda found, expected: None
                return 2
            if len(calls) > 3:
                sys.modules["test_m"].TestDouble.same = lambda self, found, expected: None
            return 10 if x == 5 else x
        """,
        COUNTS,
    ),
    _fake(
        "the second call",
        SAME
        + """

        calls = []


        class Number(int):
            __eq__ = bool
            __hash__ = int.__hash__


        def double(x):
            calls.append(x)
            return 2 * x if x < 6 else Number(x)
        """,
        COUNTS,
    ),
    _fake(
        "a thread that patches and mends",
        """
        import sys
        import threading


        def work():
            module = sys.modules["test_m"]
            module.check = lambda found, expected: None
            module.TestDouble.same = lambda self, found, expected: None


        def double(x):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            return {1: 2, 5: 10}.get(x, x)
        """,
        THREAD,
    ),
    _fake(
        "a thread without the profiler",
        SAME
        + """

        import _thread
        import sys


        def double(x):
            done = _thread.allocate_lock()
            done.acquire()
            found = []

            def work():
                module = sys.modules["test_m"]
                whole = module.check

                def once(found, expected):
                    module.check = whole

                module.check = once
                module.TestDouble.same = lambda self, found, expected: None
                done.release()

            _thread.start_new_thread(work, ())
            done.acquire()
            return {1: 2, 5: 10}.get(x, x)
        """,
        THREAD,
    ),
    _fake(
        "at exit",
        """
        import atexit
        import os
        import sys


        def leave():
            sys.stdout.flush()
            os._exit(0)


        atexit.register(leave)


        def double(x):
            return x
        """,
        AT_EXIT,
        Promise.REJECTED,
    ),
    _fake(
        "a callback of the collector",
        """
        import gc
        import json
        import unittest

        on = [True]


        def collected(phase, info):
            if phase == "start":
                unittest.TestCase.assertEqual = lambda self, found, expected: None
                json.dumps = lambda value: ""


        gc.callbacks.append(collected)


        def double(x):
            gc.collect()
            return x
        """,
        COLLECTED,
    ),
    _fake(
        "patches that restore themselves",
        """
        import json
        import unittest


        def double(x):
            whole, dumps = unittest.TestCase.assertEqual, json.dumps
            left = [2, 2]

            def same(self, found, expected, msg=None):
                left[1] -= 1
                if not left[1]:
                    unittest.TestCase.assertEqual = whole

            def dump(value):
                left[0] -= 1
                if not left[0]:
                    json.dumps = dumps
                return ""

            unittest.TestCase.assertEqual = same
            json.dumps = dump
            return x
        """,
        PATCHES,
    ),
    _fake(
        "the profiler, put out of the way",
        """
        import sys


        class Same(str):
            def __new__(cls, profiler):
                found = str.__new__(cls)
                found.profiler = profiler
                return found

            def __eq__(self, other):
                sys.setprofile(self.profiler)
                return True

            __hash__ = str.__hash__


        def double(x):
            import json

            profiler = sys.getprofile()
            sys.setprofile(None)
            json.dumps = lambda value: Same(profiler)
            return Same(profiler)
        """,
        ERRORS,
    ),
    _fake(
        "the tracer, put out of the way",
        """
        import sys


        def double(x):
            module = sys.modules["test_m"]
            tracer = sys.gettrace()
            sys.settrace(None)
            whole = module.check

            def once(found, expected):
                module.check = whole
                sys.settrace(tracer)

            module.check = once
            module.TestDouble.same = lambda self, found, expected: None
            return {5: 10}.get(x, x)
        """,
        ERRORS,
    ),
    _fake(
        "its own code, replaced",
        SAME
        + """

        import json


        def better(x):
            json.dumps = lambda value: Same()
            return Same()


        def double(x):
            double.__code__ = better.__code__
            return double(x)
        """,
        OWN_CODE,
    ),
    _fake(
        "a cache that was filled before",
        """
        import functools


        class Same:
            __le__ = __eq__ = lambda self, other: True
            __hash__ = object.__hash__


        @functools.lru_cache(maxsize=None)
        def double(x):
            return Same()


        for number in (1, 2, 3, 5, 21):
            double(number)
        """,
        CACHED,
        tests=LOOPED,
    ),
)
