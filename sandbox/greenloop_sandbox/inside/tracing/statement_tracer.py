"""Records which lines of the suspected functions a case runs; traced_cases.py does the rest."""

MAX_EVENTS = 400_000  # lines run by one case
MAX_LINES = 30_000  # different lines recorded of one case


class Statements:
    """The lines of one case."""

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
