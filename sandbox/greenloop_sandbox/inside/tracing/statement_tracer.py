"""Records which lines of the suspected functions each case runs.

A case that has run `MAX_EVENTS` lines is ended and its record sent at once, because it might never end on its own.
"""

import os
import sys
import threading

import pytest

MAX_EVENTS = 400_000  # lines run by one case
MAX_LINES = 30_000  # different lines recorded of one case
EXTRA_FRAMES = 50  # that tracing needs on the stack


class EnoughSeen(BaseException):
    """Ends a case that runs too many lines."""


def plugin(root, spans, send):
    """Makes the plugin that sends one `statements` record for each case; `spans`: [[path, start, end]]."""
    files = list(dict.fromkeys(path for path, _start, _end in spans))
    by_file = {}
    for path, start, end in spans:
        by_file.setdefault(os.path.join(root, path), (files.index(path), []))[1].append((start, end))

    def send_record(case, record):
        send({"kind": "statements", "id": case, "files": files, **record})

    class Statements:
        case = None

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_setup(self, item):
            self.case = TracedCase(item.nodeid, by_file, send_record)
            yield from self.case.trace_phase()

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self):
            yield from self.case.trace_phase()

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_teardown(self):
            if self.case is not None:
                self.case.send_record()
            self.case = None

    return Statements()


class TracedCase:
    """The lines of one case; `by_file`: absolute path -> (number of the file, [(first line, last line)])."""

    def __init__(self, name, by_file, send_record):
        self.name, self.by_file, self._send_record = name, by_file, send_record
        self.tracers, self.hits = {}, {}
        self.events, self.is_over, self.is_sent = 0, False, False
        self.thread = threading.get_ident()

    def trace_phase(self):
        """Traces one phase of the case (a generator around it)."""
        previous, limit = sys.gettrace(), sys.getrecursionlimit()
        if not self.is_over:
            sys.setrecursionlimit(limit + EXTRA_FRAMES)
            threading.settrace(self.trace_calls)
            sys.settrace(self.trace_calls)
        try:
            yield
        finally:
            sys.settrace(previous)
            threading.settrace(None)
            if sys.getrecursionlimit() == limit + EXTRA_FRAMES:
                sys.setrecursionlimit(limit)

    def send_record(self):
        """Sends the record, once."""
        self.is_over = True
        if not self.is_sent:
            self.is_sent = True
            statements = [[file, line] for file, lines in self.hits.items() for line in lines][:MAX_LINES]
            self._send_record(self.name, {"statements": statements})

    def trace_calls(self, frame, event, _argument):
        """The global trace function: a call begins, or a generator resumes."""
        if self.is_over:
            sys.settrace(None)
            return None
        if event != "call":
            return None
        code = frame.f_code
        entry = self.tracers.get(id(code))
        if entry is None:
            # The code object is kept, or its id could be reused.
            entry = self.tracers[id(code)] = (code, self._tracer(code))
        return entry[1]

    def _tracer(self, code):
        """The local trace function for this code; None where it is not suspected."""
        file, spans = self.by_file.get(code.co_filename, (0, ()))
        if not any(start <= code.co_firstlineno <= end for start, end in spans):
            return None
        case, add = self, self.hits.setdefault(file, set()).add

        def trace(frame, event, _argument):
            if event == "line":
                add(frame.f_lineno)
                case.events += 1
                if case.events >= MAX_EVENTS:
                    case.end()
            return trace

        return trace

    def end(self):
        """Ends the case."""
        self.is_over = True
        sys.settrace(None)
        if threading.get_ident() == self.thread:  # from another thread two records could be written at once
            self.send_record()
        raise EnoughSeen("it ran %d lines while it was watched" % MAX_EVENTS)
