"""Watches in the worker which assertions of a test file run, and whether one of them fails unseen."""

import os
import sys
import threading


class AssertionWatch:
    """`ran` has [path, line] of the given lines that ran; `swallowed` the line of an assertion that failed in vain.

    Code under test can keep an assertion from running (by a loop over nothing) and from failing the test (by the end of
    a `with` block). `lines` has the lines of assertions by path, relative to the root.
    """

    def __init__(self, root, lines):
        self._lines = {os.path.join(root, *path.split("/")): (path, frozenset(rows)) for path, rows in lines.items()}
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
        files, ran, error_type = self._lines, self.ran, AssertionError

        def local(frame, event, argument):
            path, rows = files[frame.f_code.co_filename]
            if event == "line" and frame.f_lineno in rows:
                ran.add((path, frame.f_lineno))
            elif event == "exception" and issubclass(argument[0], error_type):
                last = argument[2]
                while last.tb_next is not None:
                    last = last.tb_next
                if last.tb_frame is frame and frame.f_lineno in rows:
                    self.swallowed = frame.f_lineno
            return local

        def callback(frame, _event, _argument):
            return local if frame.f_code.co_filename in files else None

        return callback
