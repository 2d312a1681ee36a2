"""Traces the lines that each case runs: the part that all tracers share, and the end of a case that runs too many."""

import os
import sys
import threading

import pytest

EXTRA_FRAMES = 50  # that tracing needs on the stack
MAX_EVENTS = 400_000  # lines of suspected functions, run by one case
MAX_LINES = 30_000  # different lines recorded of one case


class LineLimitReached(BaseException):
    """Ends a traced case, which might never end on its own; a candidate does not catch it with `except Exception`."""


def spans_by_file(root, spans):
    """([path], {absolute path: (number of the file, [(first line, last line)])}) for [[path, start, end]]."""
    files = list(dict.fromkeys(path for path, _start, _end in spans))
    by_file = {}
    for path, start, end in spans:
        by_file.setdefault(os.path.join(root, path), (files.index(path), []))[1].append((start, end))
    return files, by_file


def plugin(root, spans, kind, send, make_lines):
    """Makes the plugin that sends one record of this kind for each case. `spans`: [[path, start, end]].

    `make_lines(case, by_file)` makes the lines of a `TracedCase`: `tracer(frame)` is the local trace function of a call
    (or None), and `record()` has the fields of the record.
    """
    files, by_file = spans_by_file(root, spans)

    class TracedCases:
        case = None

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_setup(self, item):
            head = {"kind": kind, "id": item.nodeid, "files": files}
            self.case = TracedCase(make_lines, by_file, lambda record: send({**head, **record}))
            yield from self.case.trace_phase()

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self):
            yield from self.case.trace_phase()

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_teardown(self):
            if self.case is not None:
                self.case.send_record()
            self.case = None

    return TracedCases()


class TracedCase:
    """One case; `events` counts the lines that it has run."""

    def __init__(self, make_lines, by_file, send):
        self.events, self.is_over, self._is_sent = 0, False, False
        self._send, self._thread = send, threading.get_ident()
        self._lines = make_lines(self, by_file)

    def trace_phase(self):
        """Traces one phase of the case (a generator around it)."""
        previous, limit = sys.gettrace(), sys.getrecursionlimit()
        if not self.is_over:
            sys.setrecursionlimit(limit + EXTRA_FRAMES)
            threading.settrace(self._trace_calls)
            sys.settrace(self._trace_calls)
        try:
            yield
        finally:
            sys.settrace(previous)
            threading.settrace(None)
            if sys.getrecursionlimit() == limit + EXTRA_FRAMES:
                sys.setrecursionlimit(limit)

    def _trace_calls(self, frame, event, _argument):
        """The global trace function: a call begins, or a generator resumes."""
        if self.is_over:
            sys.settrace(None)
        return self._lines.tracer(frame) if event == "call" and not self.is_over else None

    def send_record(self):
        """Sends the record, once."""
        self.is_over = True
        if not self._is_sent:
            self._is_sent = True
            self._send(self._lines.record())

    def end(self):
        """Ends the case and sends its record at once."""
        self.is_over = True
        sys.settrace(None)
        if threading.get_ident() == self._thread:  # from another thread two records could be written at once
            self.send_record()
        raise LineLimitReached("it ran %d lines while it was watched" % self.events)


class Statements:
    """Records which lines of the suspected functions one case runs."""

    def __init__(self, case, by_file):
        self._case, self._by_file = case, by_file
        self._tracers, self._hits = {}, {}

    def record(self):
        return {"statements": [[file, line] for file, lines in self._hits.items() for line in lines][:MAX_LINES]}

    def tracer(self, frame):
        """The local trace function of a call; None where its code is not suspected."""
        code = frame.f_code
        entry = self._tracers.get(id(code))
        if entry is None:
            # The code object is kept, or its id could be reused.
            entry = self._tracers[id(code)] = (code, self._make_tracer(code))
        return entry[1]

    def _make_tracer(self, code):
        file, spans = self._by_file.get(code.co_filename, (0, ()))
        if not any(start <= code.co_firstlineno <= end for start, end in spans):
            return None
        case, add = self._case, self._hits.setdefault(file, set()).add

        def trace(frame, event, _argument):
            if event == "line":
                add(frame.f_lineno)
                case.events += 1
                if case.events >= MAX_EVENTS:
                    case.end()
            return trace

        return trace
