"""Traces which lines of some files each case runs, and the values of its local variables.

Everything here is limited, so that neither a loop nor recursion floods the report. A watched case that has run
`MAX_LINE_EVENTS` lines is ended and its record sent at once, because it might never end on its own.
"""

import dis
import os
import sys
import threading
from collections import deque

import pytest

MAX_LINE_EVENTS = 30_000  # lines run by one case
MAX_STEPS = 1000  # steps kept from the start of a case, and as many from its end
MAX_CHARACTERS = 60_000  # of values kept from the start of a case, and as many from its end
MAX_CASES_WITH_VALUES = 8  # cases of a run whose values are recorded; of all others only the lines
MAX_NAMES = 20  # variables recorded in one step
MAX_LINES = 20_000  # different lines recorded of one case
# The instruction of a suspended frame; newer interpreters are one instruction further by then.
_YIELDING = frozenset(dis.opmap[name] for name in ("YIELD_VALUE", "YIELD_FROM", "RESUME") if name in dis.opmap)
_GENERATORS = 0x20 | 0x200  # CO_GENERATOR, CO_ASYNC_GENERATOR
_COROUTINE = 0x80


def plugin(root, watched, send, safe_repr):
    """Makes the plugin that sends one `watch` record for each case. `watched`: [[path, start, end]]."""
    files = list(dict.fromkeys(path for path, _start, _end in watched))
    spans = {}
    for path, start, end in watched:
        spans.setdefault(os.path.join(root, path), (files.index(path), []))[1].append((start, end))

    def send_record(case, record):
        send({"kind": "watch", "id": case, "files": files, **record})

    class Watch:
        case, case_count = None, 0

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_setup(self, item):
            self.case_count += 1
            self.case = WatchedCase(
                item.nodeid,
                spans,
                send_record,
                safe_repr.SafeRepr() if self.case_count <= MAX_CASES_WITH_VALUES else None,
            )
            yield from self.case.trace_phase()

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self):
            yield from self.case.trace_phase()

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_teardown(self):
            if self.case is not None:
                self.case.send_record()
            self.case = None

    return Watch()


class LineLimitReached(BaseException):
    """Ends a watched case; a candidate does not catch it with `except Exception`."""


class WatchedCase:
    """The lines and values of one case.

    `spans`: absolute path -> (number of the file, [(first line, last line)]); `safe_repr` None: records lines only.
    """

    def __init__(self, name, spans, send_record, safe_repr):
        self.name, self.spans, self.safe_repr, self._send_record = name, spans, safe_repr, send_record
        self.lines_by_code, self.hits = {}, {}
        self.first, self.last = [], deque()
        self.first_size = self.last_size = self.left_out = self.calls = self.events = 0
        self.is_over = self.is_sent = False
        self.thread = threading.get_ident()

    def trace_phase(self):
        """Traces one phase of the case (a generator around it)."""
        previous = sys.gettrace()
        if not self.is_over:
            threading.settrace(self.trace_calls)
            sys.settrace(self.trace_calls)
        try:
            yield
        finally:
            sys.settrace(previous)
            threading.settrace(None)

    def send_record(self):
        """Sends the record, once."""
        self.is_over = True
        if self.is_sent:
            return
        self.is_sent = True
        hits = [[file, line, count] for (file, line), count in list(self.hits.items())[:MAX_LINES]]
        steps = [*self.first, *(step for _size, step in self.last)]
        self._send_record(self.name, {"hits": hits, "steps": steps, "gap": len(self.first), "left_out": self.left_out})

    def trace_calls(self, frame, event, _argument):
        """The global trace function: a call begins, or a generator resumes."""
        if self.is_over:
            sys.settrace(None)
        if event != "call" or self.is_over:
            return None
        code = frame.f_code
        entry = self.lines_by_code.get(id(code))
        if entry is None:
            # The code object is kept, or its id could be reused.
            entry = self.lines_by_code[id(code)] = (code, self._watched_lines(code))
        if not entry[1]:
            return None
        tracer = frame.f_trace
        if isinstance(tracer, WatchedCall) and tracer.case is self:
            return tracer
        self.calls += 1
        return WatchedCall(self, self.spans[code.co_filename][0], entry[1], self.calls, code)

    def _watched_lines(self, code):
        """The watched lines of a code object."""
        span = self.spans.get(code.co_filename)
        if span is None:
            return frozenset()
        lines = {line for _, line in dis.findlinestarts(code) if line is not None}
        return frozenset(line for line in lines if any(start <= line <= end for start, end in span[1]))

    def count_line(self, file, line):
        """Counts one line run; the last of `MAX_LINE_EVENTS` ends the case."""
        self.hits[file, line] = self.hits.get((file, line), 0) + 1
        self.events += 1
        if self.events < MAX_LINE_EVENTS:
            return
        self.is_over = True
        if threading.get_ident() == self.thread:  # from another thread two records could be written at once
            self.send_record()
        raise LineLimitReached("it ran %d lines while it was watched" % MAX_LINE_EVENTS)

    def add_step(self, file, line, call, values):
        size = sum(len(name) + len(text) for name, text in values.items())
        step = [file, line, call, values]
        if not self.last and len(self.first) < MAX_STEPS and self.first_size + size <= MAX_CHARACTERS:
            self.first.append(step)
            self.first_size += size
            return
        self.last.append((size, step))
        self.last_size += size
        while len(self.last) > MAX_STEPS or self.last_size > MAX_CHARACTERS:
            dropped_size = self.last.popleft()[0]
            self.last_size -= dropped_size
            self.left_out += 1


class WatchedCall:
    """The local trace function of one call; `number` counts calls of the case from 1."""

    def __init__(self, case, file, lines, number, code):
        self.case, self.file, self.lines, self.number = case, file, lines, number
        self.flags = code.co_flags
        # Code without a name (a comprehension): its lines count, but its steps would only distract.
        self.has_steps = case.safe_repr is not None and not code.co_name.startswith("<")
        self.atoms, self.texts = {}, {}
        self.raised = None

    def __call__(self, frame, event, argument):
        case = self.case
        if case.is_over:
            sys.settrace(None)
            return None
        try:
            if event == "exception":
                if self.has_steps:
                    self.raised = case.safe_repr.show(argument[1] or argument[0])
            elif event == "line":
                self.raised = None
                if frame.f_lineno in self.lines:
                    case.count_line(self.file, frame.f_lineno)
                    if self.has_steps:
                        case.add_step(self.file, frame.f_lineno, self.number, self._changed_variables(frame))
            elif event == "return" and self.has_steps:
                case.add_step(self.file, frame.f_lineno, self.number, self._final_values(frame, argument))
        except Exception:  # our own, out of memory or stack: the case continues without being watched
            return None
        return self

    def _changed_variables(self, frame):
        """The variables that are new or changed since this call's last step."""
        show, kinds = self.case.safe_repr.show, self.case.safe_repr.atoms
        atoms, texts, changed = self.atoms, self.texts, {}
        for name, value in frame.f_locals.items():
            if name in atoms and atoms[name] is value:
                continue
            if len(changed) >= MAX_NAMES:
                break
            if name[:1] == "." or name[:2] == "__":
                continue
            if type(value) in kinds:
                atoms[name] = value
            else:
                atoms.pop(name, None)
            text = show(value)
            if texts.get(name) != text:
                changed[name] = texts[name] = text
        return changed

    def _final_values(self, frame, argument):
        """The last changes, and how the call ended under a keyword, which cannot be a variable's name."""
        values = self._changed_variables(frame)
        if self.raised is not None and argument is None:
            return {**values, "raise": self.raised}
        if self.flags & (_GENERATORS | _COROUTINE) and frame.f_code.co_code[frame.f_lasti] in _YIELDING:
            return {**values, "yield": self.case.safe_repr.show(argument)} if self.flags & _GENERATORS else values
        return {**values, "return": self.case.safe_repr.show(argument)}
