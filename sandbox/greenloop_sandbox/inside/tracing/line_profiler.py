"""Records how long each line of some functions takes, and how much memory is in use there, for each case.

The seconds of a line include what it calls. A line's bytes are the most that were allocated after it began, beyond what
was allocated when it began. A case that has run `MAX_EVENTS` lines goes on without being profiled.
"""

import sys
import time
import tracemalloc

import pytest

MAX_EVENTS = 300_000  # lines run by one case


def plugin(files, by_file, memory, send):
    """Makes the plugin that sends one `profile` record for each case that reaches its end.

    `files` and `by_file` are profiled line by line (traced_cases.py); `memory`: the most bytes in use are recorded,
    too, of the whole case where there are no files.
    """
    start, stop, in_use = tracemalloc.start, tracemalloc.stop, tracemalloc.get_traced_memory

    class Profile:
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self, item):
            profiler = LineProfiler(by_file, memory)
            if memory:
                start()
            before = in_use()[0] if memory else 0
            if by_file:
                sys.settrace(profiler.trace_calls)
            try:
                yield
            finally:
                if by_file:
                    sys.settrace(None)
                peak = in_use()[1] - before if memory else 0
                if memory:
                    stop()
            lines = [[*place, *totals] for place, totals in profiler.lines.items()]
            send({"kind": "profile", "id": item.nodeid, "files": files, "lines": lines, "peak": peak})

    return Profile()


class LineProfiler:
    """The lines of one case; `lines`: (number of the file, line) -> [times, seconds, bytes]."""

    def __init__(self, by_file, memory, most=MAX_EVENTS):
        self.by_file, self.memory, self.most = by_file, memory, most
        self.lines, self.events = {}, 0

    def trace_calls(self, frame, event, _argument):
        """The global trace function: a call begins, or a generator resumes."""
        if event != "call" or self.events > self.most:
            return None
        file, spans = self.by_file.get(frame.f_code.co_filename, (0, ()))
        if not any(start <= frame.f_code.co_firstlineno <= end for start, end in spans):
            return None
        return self._tracer(file)

    def _tracer(self, file):
        """The local trace function of one call."""
        clock, in_use, memory = time.perf_counter, tracemalloc.get_traced_memory, self.memory
        current = []  # the line that runs: its totals, the time and bytes at which it began

        def trace(frame, event, _argument):
            if current:
                totals, began, allocated = current
                totals[1] += clock() - began
                if memory:
                    totals[2] = max(totals[2], in_use()[0] - allocated)
            current.clear()
            if event == "line":
                self.events += 1
                if self.events > self.most:
                    sys.settrace(None)
                    frame.f_trace = None
                    return None
                totals = self.lines.setdefault((file, frame.f_lineno), [0, 0.0, 0])
                totals[0] += 1
                current[:] = [totals, clock(), in_use()[0] if memory else 0]
            return trace

        return trace
