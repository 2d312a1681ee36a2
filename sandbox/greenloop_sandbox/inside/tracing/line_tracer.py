"""Traces which lines of some files each case runs, and the values of its local variables.

Everything here is limited, so that neither a loop nor recursion floods the report; traced_cases.py does the rest.
"""

import dis
import sys
from collections import deque

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


def with_values(safe_repr):
    """Makes the `make_lines` of traced_cases.py; of the first cases the values are recorded, too."""
    left = [MAX_CASES_WITH_VALUES]

    def make_lines(case, by_file):
        left[0] -= 1
        return LineWatch(case, by_file, safe_repr.SafeRepr() if left[0] >= 0 else None)

    return make_lines


class LineWatch:
    """The lines and values of one case. `safe_repr` None: records lines only."""

    def __init__(self, case, by_file, safe_repr):
        self.case, self.safe_repr, self._by_file = case, safe_repr, by_file
        self.lines_by_code, self.hits = {}, {}
        self.first, self.last = [], deque()
        self.first_size = self.last_size = self.left_out = self.calls = 0

    def record(self):
        hits = [[file, line, count] for (file, line), count in list(self.hits.items())[:MAX_LINES]]
        steps = [*self.first, *(step for _size, step in self.last)]
        return {"hits": hits, "steps": steps, "gap": len(self.first), "left_out": self.left_out}

    def tracer(self, frame):
        """The local trace function of a call; None where none of its lines is watched."""
        code = frame.f_code
        entry = self.lines_by_code.get(id(code))
        if entry is None:
            # The code object is kept, or its id could be reused.
            entry = self.lines_by_code[id(code)] = (code, self._watched_lines(code))
        if not entry[1]:
            return None
        tracer = frame.f_trace
        if isinstance(tracer, WatchedCall) and tracer.watched is self:
            return tracer
        self.calls += 1
        return WatchedCall(self, self._by_file[code.co_filename][0], entry[1], self.calls, code)

    def _watched_lines(self, code):
        """The watched lines of a code object."""
        _file, spans = self._by_file.get(code.co_filename, (0, ()))
        lines = {line for _, line in dis.findlinestarts(code) if line is not None} if spans else ()
        return frozenset(line for line in lines if any(start <= line <= end for start, end in spans))

    def count_line(self, file, line):
        """Counts one line run; the last of `MAX_LINE_EVENTS` ends the case."""
        self.hits[file, line] = self.hits.get((file, line), 0) + 1
        self.case.events += 1
        if self.case.events >= MAX_LINE_EVENTS:
            self.case.end()

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

    def __init__(self, watched, file, lines, number, code):
        self.watched, self.file, self.lines, self.number = watched, file, lines, number
        self.flags = code.co_flags
        # Code without a name (a comprehension): its lines count, but its steps would only distract.
        self.has_steps = watched.safe_repr is not None and not code.co_name.startswith("<")
        self.atoms, self.texts = {}, {}
        self.raised = None

    def __call__(self, frame, event, argument):
        watched = self.watched
        if watched.case.is_over:
            sys.settrace(None)
            return None
        try:
            if event == "exception":
                if self.has_steps:
                    self.raised = watched.safe_repr.show(argument[1] or argument[0])
            elif event == "line":
                self.raised = None
                if frame.f_lineno in self.lines:
                    watched.count_line(self.file, frame.f_lineno)
                    if self.has_steps:
                        watched.add_step(self.file, frame.f_lineno, self.number, self._changed_variables(frame))
            elif event == "return" and self.has_steps:
                watched.add_step(self.file, frame.f_lineno, self.number, self._final_values(frame, argument))
        except Exception:  # our own, out of memory or stack: the case continues without being watched
            return None
        return self

    def _changed_variables(self, frame):
        """The variables that are new or changed since this call's last step."""
        show, kinds = self.watched.safe_repr.show, self.watched.safe_repr.atoms
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
            return {**values, "yield": self.watched.safe_repr.show(argument)} if self.flags & _GENERATORS else values
        return {**values, "return": self.watched.safe_repr.show(argument)}
