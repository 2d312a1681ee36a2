"""Measures what the calls of a run cost, from outside the process that makes them: with marks and the kernel's clocks.

The worker only says *now*, by one byte, and waits; the supervisor reads the clocks and answers. So no number comes from
the process whose code is measured. The marks need no seal: whatever lies outside a pair of them counts as spent
elsewhere, and both parts add up to the whole run.
"""

import contextlib
import gc
import os
import resource
import socket
import time
import tracemalloc

import pytest

MOST_MARKS = 100_000  # of one run; more are not answered


class Meter:
    """The clocks of one run, read by the supervisor: at each mark, and at the end.

    A call costs the greater of two: the processor time of the worker's process, and the time that passed while its main
    thread did not wait for a processor. What its children cost is known when all are gone, so it is spent elsewhere.
    """

    def __init__(self, waiting_seconds):
        self._waiting_seconds = waiting_seconds  # of a process
        self.stream, self.end = socket.socketpair()  # the supervisor's, and the worker's
        self.stream.setblocking(False)
        self._marks, self._peak, self._resident = [], 0, 0
        self._children, self._own, self._waited, self._late = {}, os.getpid(), 0.0, 0.0
        self._used_before = _children_seconds()

    def start(self, worker):
        """Begins, once the worker was forked."""
        self._worker = worker
        self.end.close()

    def rest(self):
        """To be called before the supervisor waits: how long it then waits for a processor is not the worker's time."""
        self._waited = self._waiting_seconds(self._own)

    def answer(self):
        """Reads the clocks for each mark that has come, and lets the worker go on. False when no more can come."""
        self._late = self._waiting_seconds(self._own) - self._waited
        try:
            marks = self.stream.recv(64)
            for _ in marks:
                self._mark()
                self.stream.send(b".")
        except BlockingIOError:
            return True
        except OSError:
            return False
        return bool(marks) and len(self._marks) < MOST_MARKS

    def _mark(self):
        arrived = time.monotonic()
        cpu, waited = _process_seconds(self._worker), self._waiting_seconds(self._worker)
        if not self._marks:
            self._resident = _memory(self._worker, b"VmRSS:")
        elif self._in_call:
            self._peak = max(self._peak, _memory(self._worker, b"VmHWM:") - self._resident)
        else:
            with contextlib.suppress(OSError), open("/proc/%d/clear_refs" % self._worker, "wb") as stream:
                stream.write(b"5")  # the peak begins anew
        self._marks.append((arrived - self._late - waited, time.monotonic() - waited, cpu))

    @property
    def _in_call(self):
        """The first mark begins the run, the last one ends it; between them are pairs.

        The first pair is around the collection of the tests; each case has one around its setup, call and teardown.
        """
        return len(self._marks) > 4 and len(self._marks) % 6 == 0

    def look(self, processes):
        """Notes the processor time of the worker's live children, which may see to it that it is never passed on.

        `processes`: (pid, threads, resident bytes) of all descendants.
        """
        for pid, _threads, _size in processes:
            self._children[pid] = max(self._children.get(pid, 0.0), _process_seconds(pid))
        if self._in_call:
            self._peak = max(self._peak, sum(size for _, _, size in processes) - self._resident)

    def result(self):
        """The costs, once no process is left: the `costs` of the reply (protocol.py). None where marks are missing."""
        self.stream.close()
        if len(self._marks) % 6 != 4:
            return None
        pairs = [self._marks[place : place + 2] for place in range(1, len(self._marks) - 1, 2)]
        imports, *spans = [(end[0] - begin[1], end[2] - begin[2]) for begin, end in pairs]
        calls = spans[1::3]
        start, last = self._marks[0], self._marks[-1]
        used = max(_children_seconds() - self._used_before, sum(self._children.values()))
        return {
            "calls": [max(call) for call in calls],
            "imports": max(imports),
            "fixtures": sum(max(span) for span in spans) - sum(max(call) for call in calls),
            "elapsed": last[0] - start[1] - sum(call[0] for call in calls),
            "processor": used - start[2] - sum(call[1] for call in calls),
            "peak": self._peak,
        }


def _process_seconds(pid):
    """The processor time of all threads of a process, also of those that have ended; 0.0 where it is unknown."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # clock_getcpuclockid(3)
    except OSError:
        return 0.0


def _children_seconds():
    """The processor time of all processes that ended, with what they have waited for; in steps of 1 µs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _memory(pid, name):
    try:
        with open("/proc/%d/status" % pid, "rb") as stream:
            return next(int(line.split()[1]) << 10 for line in stream if line.startswith(name))
    except (OSError, StopIteration):
        return 0


# -- in the worker ----------------------------------------------------------------------------------------------------


def plugin(end, passes, memory):
    """Makes the plugin that runs all cases `passes` times and marks their calls; to be made before code of the project.

    Garbage is collected at the end of each call, which pays for it, and at no other time: to switch that off gains
    nothing. Where `memory` is recorded, what would make `tracemalloc` forget does nothing.
    """
    send, receive, collect, disable = end.send, end.recv, gc.collect, gc.disable
    if memory:
        nothing = lambda *_arguments, **_named: None  # noqa: E731
        tracemalloc.start = tracemalloc.stop = tracemalloc.reset_peak = tracemalloc.clear_traces = nothing

    def mark():
        send(b".")
        receive(1)

    mark()

    class Marks:
        passed = 0

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection(self):
            mark()
            yield
            mark()

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtestloop(self, session):
            self.count = len(session.items)
            session.items[:] = session.items * passes
            yield
            collect()
            mark()

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_setup(self):
            if self.passed % self.count == 0:
                collect()  # what an earlier pass has left is spent elsewhere, too
            self.passed += 1
            mark()
            yield
            mark()

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self):
            if memory:
                mark()
                yield
            else:
                gc.freeze()  # what was there before the call
                disable()
                mark()
                yield
                collect()
            mark()

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_teardown(self, item, nextitem):
            mark()
            yield
            if nextitem is item:  # pytest would leave its fixtures as they are
                item.session._setupstate.teardown_exact(item.parent)
            mark()

    return Marks()
