"""Records which lines of the suspected functions each case runs, and which of them produced the compared value.

Where a case fails, everything that leads to the values of its failing statement is followed backwards: the returned
objects themselves, what they hold, and the objects whose methods ran. A case that has run `MAX_EVENTS` lines is ended
and its record sent at once, because it might never end on its own.
"""

import os
import sys
import threading
from collections import deque

import pytest

MAX_EVENTS = 400_000  # lines run by one case
MAX_LINES = 30_000  # different lines recorded of one case
MAX_RETURNS = 20_000  # the last returned values of a failing case that are kept until its end
MAX_VALUES = 3_000  # values that are followed from a failing statement
MAX_HOPS = 3  # attributes and items from a compared value to another
SHORTEST_TEXT = 2  # characters: shorter texts are equal by chance
EXTRA_FRAMES = 50  # that tracing needs on the stack
PERCENT_OF_HOP = 60  # of the weight is left after each attribute or item
PERCENT_OF_LOCAL = 40  # weight of the test's other variables
PERCENT_OF_NUMBER = 50  # of the weight, where numbers are equal: it may be by chance
PERCENT_OF_METHOD = 50  # of the weight, for a method of a value
ATOMS = (str, bytes, int, float, complex)


class EnoughSeen(BaseException):
    """Ends a case that runs too many lines."""


def plugin(root, spans, failing, send, display):
    """Makes the plugin that sends one `statements` record for each case.

    `spans`: [[path, start, end]] are the suspected functions, `failing` the cases that are known to fail; `display` is
    the module failure_display.
    """
    files = list(dict.fromkeys(path for path, _start, _end in spans))
    by_file = {}
    for path, start, end in spans:
        by_file.setdefault(os.path.join(root, path), (files.index(path), []))[1].append((start, end))
    failing = frozenset(failing)

    def send_record(case, record):
        send({"kind": "statements", "id": case, "files": files, **record})

    class Statements:
        case = None

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_setup(self, item):
            self.case = TracedCase(item.nodeid, root, by_file, send_record, item.nodeid in failing, display)
            yield from self.case.trace_phase(item)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self, item):
            yield from self.case.trace_phase(item)

        @pytest.hookimpl(tryfirst=True)
        def pytest_assertrepr_compare(self, left, right):
            if self.case is not None:
                self.case.compared = (left, right)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_teardown(self):
            if self.case is not None:
                self.case.send_record()
            self.case = None

    return Statements()


class TracedCase:
    """The lines of one case; `by_file`: absolute path -> (number of the file, [(first line, last line)])."""

    def __init__(self, name, root, by_file, send_record, is_failing, display):
        self.name, self.root, self.by_file = name, root, by_file
        self._send_record, self._display = send_record, display
        self.is_failing, self.compared, self.produced = is_failing, (), {}
        self.tracers, self.hits, self.returns = {}, {}, deque(maxlen=MAX_RETURNS)
        self.events, self.is_over, self.is_sent = 0, False, False
        self.thread = threading.get_ident()

    def trace_phase(self, item):
        """Traces one phase of the case (a generator around it)."""
        previous, limit = sys.gettrace(), sys.getrecursionlimit()
        if not self.is_over:
            sys.setrecursionlimit(limit + EXTRA_FRAMES)
            threading.settrace(self.trace_calls)
            sys.settrace(self.trace_calls)
        try:
            outcome = yield
        finally:
            sys.settrace(previous)
            threading.settrace(None)
            if sys.getrecursionlimit() == limit + EXTRA_FRAMES:
                sys.setrecursionlimit(limit)
        failures = self._display.ending_exceptions(item, outcome) if self.is_failing else ()
        for error in failures:
            self.produced = _producers(self.returns, _followed(error, self.compared, self.root))
        self.returns.clear()
        self.compared = ()

    def send_record(self):
        """Sends the record, once."""
        self.is_over = True
        if not self.is_sent:
            self.is_sent = True
            statements = [[file, line] for file, lines in self.hits.items() for line in lines][:MAX_LINES]
            produced = [[*function, weight] for function, weight in self.produced.items()]
            self._send_record(self.name, {"statements": statements, "produced": produced})

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
        first = code.co_firstlineno
        if not any(start <= first <= end for start, end in spans):
            return None
        lines = self.hits.setdefault(file, set())
        function, returns = (file, first), self.returns if self.is_failing else None
        owner = code.co_varnames[0] if code.co_argcount and code.co_varnames[0] in ("self", "cls") else None
        case, add = self, lines.add

        def trace(frame, event, argument):
            if event == "line":
                add(frame.f_lineno)
                case.events += 1
                if case.events >= MAX_EVENTS:
                    case.end()
            elif event == "return" and returns is not None and not case.is_over:
                returns.append((function, argument, frame.f_locals.get(owner) if owner else None))
            return trace

        return trace

    def end(self):
        """Ends the case."""
        self.is_over = True
        sys.settrace(None)
        if threading.get_ident() == self.thread:  # from another thread two records could be written at once
            self.send_record()
        raise EnoughSeen("it ran %d lines while it was watched" % MAX_EVENTS)


def _followed(error, compared, root):
    """The values that a failure depends on: weights by the identity of objects, and by texts and numbers.

    Runs nothing of the project: attributes are read from where they are stored, and nothing is compared but by
    identity, or between built-in values.
    """
    pending = deque((value, 100, 0) for value in _values_of_failure(error, compared))
    pending.extend((value, PERCENT_OF_LOCAL, 1) for value in _local_values(error, root))
    objects, atoms, kept = {}, {}, []
    while pending and len(kept) < MAX_VALUES:
        value, weight, hops = pending.popleft()
        kind = type(value)
        if value is None or kind is bool:
            continue
        if kind in ATOMS:
            if kind in (str, bytes) and len(value) < SHORTEST_TEXT:
                continue
            atoms.setdefault((kind, value), weight)
            continue
        if id(value) in objects:
            continue
        objects[id(value)] = weight
        kept.append(value)
        if hops < MAX_HOPS:
            pending.extend((part, weight * PERCENT_OF_HOP // 100, hops + 1) for part in _parts(value))
    return objects, atoms, kept


def _values_of_failure(error, compared):
    """The values that the failing statement has computed: those that pytest or unittest compared, and their parts."""
    found, trace = list(compared), error.__traceback__
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
        if frame.f_code.co_name.startswith("assert") and frame.f_code.co_filename.endswith("case.py"):
            found += [value for name, value in frame.f_locals.items() if name != "self"]
            break
        # pytest keeps what a failed assertion has computed under such names.
        found += [value for name, value in frame.f_locals.items() if name.startswith("@py_assert")]
    return found


def _local_values(error, root):
    """The variables of the outermost frame of the workspace in the traceback: those of the test."""
    trace = error.__traceback__
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith(root + os.sep):
        trace = trace.tb_next
    variables = {} if trace is None else trace.tb_frame.f_locals
    return [value for name, value in variables.items() if name[:1] != "@" and name != "self"]


def _parts(value):
    """Returns the values that a value holds, without running code of the project."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset, deque):
        found = list(value)
    elif kind is dict:
        found = list(value.values())
    elif isinstance(value, type) or callable(value):
        return []
    else:
        try:
            found = list(object.__getattribute__(value, "__dict__").values())
        except Exception:  # an object without attributes of its own
            found = []
        for base in (list, tuple, dict):
            if isinstance(value, base):
                found += list(dict.values(value)) if base is dict else list(base.__iter__(value))
    return found[:MAX_VALUES]


def _producers(returns, followed):
    """The functions that returned these values, or are methods of them: weights in percent by function."""
    objects, atoms, _kept = followed
    found = {}
    for function, value, owner in returns:
        kind = type(value)
        if kind in ATOMS:
            weight = atoms.get((kind, value), 0)
            weight = weight if kind in (str, bytes) else weight * PERCENT_OF_NUMBER // 100
        else:
            weight = objects.get(id(value), 0)
        if owner is not None:
            weight = max(weight, objects.get(id(owner), 0) * PERCENT_OF_METHOD // 100)
        if weight > found.get(function, 0):
            found[function] = weight
    return found
