"""Which lines of some files each case runs, and what the local variables are meanwhile: a line tracer in the worker.

Every number here has a bound, so that neither a loop nor recursion floods the report. A watched case that has run
`EVENTS` lines has shown enough: its record goes out at once and it is ended, for it might never end.
"""

import dis
import os
import sys
import threading
from collections import deque

import pytest

EVENTS = 30_000  # lines of a case
STEPS = 1000  # kept from the start of a case, and as many from its end
CHARACTERS = 60_000  # of values kept from the start of a case, and as many from its end
VALUED = 8  # cases of a run whose values are told; of all others the lines alone
NAMES = 20  # variables told in one step
LINES = 20_000  # different lines told of one case
# Where a frame stands that is left to be gone on with; newer interpreters are an instruction further by then.
_YIELDING = frozenset(dis.opmap[name] for name in ("YIELD_VALUE", "YIELD_FROM", "RESUME") if name in dis.opmap)
_GENERATORS = 0x20 | 0x200  # CO_GENERATOR, CO_ASYNC_GENERATOR
_COROUTINE = 0x80


def plugin(root, watched, send, showing):
    """The plugin that sends one `watch` record for each case. `watched`: [[path, start, end]]."""
    files = list(dict.fromkeys(path for path, _start, _end in watched))
    spans = {}
    for path, start, end in watched:
        spans.setdefault(os.path.join(root, path), (files.index(path), []))[1].append((start, end))

    def tell(case, record):
        send({"kind": "watch", "id": case, "files": files, **record})

    class Watch:
        case, begun = None, 0

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_setup(self, item):
            self.begun += 1
            self.case = Case(item.nodeid, spans, tell, showing.Shower() if self.begun <= VALUED else None)
            yield from self.case.recorded()

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self):
            yield from self.case.recorded()

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_teardown(self):
            if self.case is not None:
                self.case.tell()
            self.case = None

    return Watch()


class Enough(BaseException):
    """Ends a watched case; no candidate catches it by catching `Exception`."""


class Case:
    """What one case has run.

    `spans`: absolute path -> (number of the file, [(first line, last line)]); no `shower`: nobody wants the values.
    """

    def __init__(self, name, spans, tell, shower):
        self.name, self.spans, self.shower, self._tell = name, spans, shower, tell
        self.known, self.hits = {}, {}
        self.first, self.last = [], deque()
        self.first_size = self.last_size = self.left_out = self.calls = self.events = 0
        self.over = self.told = False
        self.home = threading.get_ident()

    def recorded(self):
        """Around a phase of the case."""
        before = sys.gettrace()
        if not self.over:
            threading.settrace(self.enter)
            sys.settrace(self.enter)
        try:
            yield
        finally:
            sys.settrace(before)
            threading.settrace(None)

    def tell(self):
        """Sends the record, once."""
        self.over = True
        if self.told:
            return
        self.told = True
        hits = [[file, line, count] for (file, line), count in list(self.hits.items())[:LINES]]
        steps = [*self.first, *(step for _size, step in self.last)]
        self._tell(self.name, {"hits": hits, "steps": steps, "gap": len(self.first), "left_out": self.left_out})

    def enter(self, frame, event, _argument):
        """The global trace function: a call begins, or a generator goes on."""
        if self.over:
            sys.settrace(None)
        if event != "call" or self.over:
            return None
        code = frame.f_code
        entry = self.known.get(id(code))
        if entry is None:
            entry = self.known[id(code)] = (code, self._lines(code))  # kept, or its id could be used again
        if not entry[1]:
            return None
        going_on = frame.f_trace
        if isinstance(going_on, Call) and going_on.case is self:
            return going_on
        self.calls += 1
        return Call(self, self.spans[code.co_filename][0], entry[1], self.calls, code)

    def _lines(self, code):
        """Those of its lines that are watched."""
        span = self.spans.get(code.co_filename)
        if span is None:
            return frozenset()
        lines = {line for _, line in dis.findlinestarts(code) if line is not None}
        return frozenset(line for line in lines if any(start <= line <= end for start, end in span[1]))

    def count(self, file, line):
        """One more line; the last of `EVENTS` ends the watching."""
        self.hits[file, line] = self.hits.get((file, line), 0) + 1
        self.events += 1
        if self.events < EVENTS:
            return
        self.over = True
        if threading.get_ident() == self.home:  # from another thread two records could be written at once
            self.tell()
        raise Enough("it ran %d lines while it was watched" % EVENTS)

    def step(self, file, line, call, values):
        size = sum(len(name) + len(text) for name, text in values.items())
        step = [file, line, call, values]
        if not self.last and len(self.first) < STEPS and self.first_size + size <= CHARACTERS:
            self.first.append(step)
            self.first_size += size
            return
        self.last.append((size, step))
        self.last_size += size
        while len(self.last) > STEPS or self.last_size > CHARACTERS:
            gone = self.last.popleft()[0]
            self.last_size -= gone
            self.left_out += 1


class Call:
    """The local trace function of one call; `number` counts calls of the case from 1."""

    def __init__(self, case, file, lines, number, code):
        self.case, self.file, self.lines, self.number = case, file, lines, number
        self.flags = code.co_flags
        # Of what has no name (a comprehension) the lines count, but its steps would be in the way.
        self.told = case.shower is not None and not code.co_name.startswith("<")
        self.atoms, self.texts = {}, {}
        self.raised = None

    def __call__(self, frame, event, argument):
        case = self.case
        if case.over:
            sys.settrace(None)
            return None
        try:
            if event == "exception":
                if self.told:
                    self.raised = case.shower.show(argument[1] or argument[0])
            elif event == "line":
                self.raised = None
                if frame.f_lineno in self.lines:
                    case.count(self.file, frame.f_lineno)
                    if self.told:
                        case.step(self.file, frame.f_lineno, self.number, self._changed(frame))
            elif event == "return" and self.told:
                case.step(self.file, frame.f_lineno, self.number, self._end(frame, argument))
        except Exception:  # of ours, at the end of memory or stack: the case goes on without being watched
            return None
        return self

    def _changed(self, frame):
        """The variables that are new or other than at this call's last step."""
        show, kinds, atoms, texts, changed = self.case.shower.show, self.case.shower.atoms, self.atoms, self.texts, {}
        for name, value in frame.f_locals.items():
            if name in atoms and atoms[name] is value:
                continue
            if len(changed) >= NAMES:
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

    def _end(self, frame, argument):
        """The last changes and how the call ended; those words can be no variables."""
        values = self._changed(frame)
        if self.raised is not None and argument is None:
            return {**values, "raise": self.raised}
        if self.flags & (_GENERATORS | _COROUTINE) and frame.f_code.co_code[frame.f_lasti] in _YIELDING:
            return {**values, "yield": self.case.shower.show(argument)} if self.flags & _GENERATORS else values
        return {**values, "return": self.case.shower.show(argument)}
