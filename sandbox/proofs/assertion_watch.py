"""Watches in the worker which assertions of a test file run, and whether one of them fails unseen."""

import os
import sys
import threading


class AssertionWatch:
    """`ran` has [path, line] of the given lines that ran; `swallowed` the line of an assertion that failed in vain.

    Code under test can keep an assertion from running (by a loop over nothing) and from failing the test (by the end of
    a `with` block). `lines` has the lines of assertions by path, relative to the root; `strict` those where the test
    itself lets no AssertionError pass. `look(value)` is called with what exceptions bring to the test.
    """

    def __init__(self, root, lines, strict=None, look=None):
        strict, self._lines = strict or {}, {}
        for path, rows in lines.items():
            must_not_fail = frozenset(strict.get(path, rows))
            self._lines[os.path.join(root, *path.split("/"))] = (path, frozenset(rows), must_not_fail)
        self._look = look
        self.start()

    def start(self):
        self.ran, self.swallowed, self.complete = set(), 0, False

    def trace(self):
        """Watches while it is iterated; made for a hook wrapper. Where another tracer is at work it watches nothing."""
        if not self._lines or sys.gettrace() is not None:
            yield
            return
        callback = self._make_callback()
        threading.settrace(callback)
        sys.settrace(callback)
        try:
            yield
        finally:
            self.complete = sys.gettrace() is callback
            sys.settrace(None)
            threading.settrace(None)

    def _make_callback(self):
        files, ran, error_type, look = self._lines, self.ran, AssertionError, self._look

        def is_strict(frame):
            while frame is not None:
                rows = files.get(frame.f_code.co_filename)
                if rows is not None and frame.f_lineno not in rows[2]:
                    return False
                frame = frame.f_back
            return True

        def local(frame, event, argument):
            path, rows, _strict = files[frame.f_code.co_filename]
            if event == "line" and frame.f_lineno in rows:
                ran.add((path, frame.f_lineno))
            elif event == "exception":
                if issubclass(argument[0], error_type) and not self.swallowed and is_strict(frame):
                    self.swallowed = frame.f_lineno
                if look is not None and isinstance(argument[1], BaseException):
                    for value in (*argument[1].args, *vars(argument[1]).values()):
                        look(value)
            return local

        def callback(frame, _event, _argument):
            return local if frame.f_code.co_filename in files else None

        return callback
