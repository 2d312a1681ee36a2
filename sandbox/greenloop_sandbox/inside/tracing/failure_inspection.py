"""Describes a failure for its repair: the whole chain of exceptions, with the values of locals.

The values are shown without running the project's code; expressions that were asked for are evaluated in the failing
frame, which does run it. It must not decide anything about the case.
"""

import linecache
import os
import re
import sys

import pytest

MOST_CASES = 8  # failing cases that are described
MOST_FRAMES = 30  # of one exception; of a deep recursion its two ends
MOST_NAMES = 30  # locals of one frame
VALUE = 300  # characters of one local
MOST_VALUES = 3000  # characters of all locals of one frame
MESSAGE = 12000  # characters of the exception that failed the case
EARLIER = 2000  # characters of one that led to it
SECTION = 3000  # characters of one captured stream
RESULT = 4000  # characters of one evaluated expression
MOST_LINKS = 5  # exceptions in a chain
_HIDDEN = ("__", "@py")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}")


def plugin(wanted, send, relative_path, failures, safe_repr):
    """Makes the plugin that records each failing case; `wanted` has the `expressions` and the `frame` for them."""
    describe = _Describer(relative_path, failures, safe_repr)
    left = {"cases": MOST_CASES}

    class FailureInspection:
        @pytest.hookimpl(hookwrapper=True, trylast=True)
        def pytest_runtest_makereport(self, item, call):
            outcome = yield
            info = call.excinfo
            if info is None or left["cases"] <= 0 or outcome.excinfo is not None:
                return
            report = outcome.get_result()
            if report.outcome != "failed":
                return
            left["cases"] -= 1
            record = {"kind": "inspection", "id": item.nodeid, "when": call.when, "chain": [], "values": []}
            try:
                record["chain"] = describe.chain(info.value, info.tb)
                record["values"] = describe.evaluate(info.tb, wanted["expressions"], wanted["frame"])
            except Exception as error:  # whatever a strange exception does, the test continues
                record["values"] = [["", "%s while the failure was described" % type(error).__name__]]
            record["sections"] = [
                [str(title), failures.truncate(_plain(str(text)), SECTION)] for title, text in report.sections if text
            ]
            send(record)

    return FailureInspection()


class _Describer:
    def __init__(self, relative_path, failures, safe_repr):
        self._relative_path, self._failures = relative_path, failures
        self._show = safe_repr.SafeRepr(seconds=1.0, characters=VALUE).show

    def chain(self, error, traceback):
        """The exceptions that led to this one and itself, the first one first."""
        links, seen = [], set()
        how = ""
        while error is not None and id(error) not in seen and len(links) < MOST_LINKS:
            seen.add(id(error))
            length = EARLIER if links else MESSAGE
            links.append(
                {
                    "type": type(error).__name__,
                    "message": _plain(self._failures.long_message(error, length)),
                    "led": how,
                    "frames": [self._frame(*step) for step in self._steps(traceback)],
                }
            )
            if error.__cause__ is not None:
                how, error = "cause", error.__cause__
            else:
                how, error = "context", None if error.__suppress_context__ else error.__context__
            traceback = getattr(error, "__traceback__", None)
        return links[::-1]

    def evaluate(self, traceback, expressions, wanted):
        """[expression, its value or error] in a frame: `path:line`, a function, or "" for the innermost one."""
        if not expressions:
            return []
        steps = [step for step in self._steps(traceback) if self._is_own(step[0])] or self._steps(traceback)
        frame = next((frame for frame, line in reversed(steps) if self._is_named(frame, line, wanted)), None)
        if frame is None:
            return [["", "There is no frame %s in the traceback." % wanted]]
        names = {**frame.f_globals, **frame.f_locals}
        return [[expression, self._value(expression, names)] for expression in expressions]

    def _value(self, expression, names):
        try:
            value = eval(expression, names)  # inside the wall, like the code under test
            text = value if isinstance(value, str) and "\n" in value else self._failures.long_repr(value, RESULT)
        except BaseException as error:
            text = "%s: %s" % (type(error).__name__, self._failures.long_message(error, EARLIER))
        return self._failures.truncate(_plain(text), RESULT)

    def _is_named(self, frame, line, wanted):
        if not wanted:
            return True
        code = frame.f_code
        names = (code.co_name, getattr(code, "co_qualname", code.co_name))
        return wanted in (*names, "%s:%d" % (self._relative_path(code.co_filename), line))

    def _is_own(self, frame):
        path = self._relative_path(frame.f_code.co_filename)
        return not os.path.isabs(path) and not path.startswith("<") and "site-packages" not in path.split("/")

    def _steps(self, traceback):
        steps = [
            step
            for step in self._failures.traceback_steps(traceback)
            if not self._failures.is_machinery(step[0].f_code.co_filename)
        ]
        own = [number for number, step in enumerate(steps) if self._is_own(step[0])]
        steps = steps[own[0] :] if own else steps  # without plugins between pytest and the test
        return steps if len(steps) <= MOST_FRAMES else steps[: MOST_FRAMES // 2] + steps[-MOST_FRAMES // 2 :]

    def _frame(self, frame, line):
        code = frame.f_code
        line = line or code.co_firstlineno
        path = self._relative_path(code.co_filename)
        values = self._locals(frame) if self._is_own(frame) else []
        text = linecache.getline(code.co_filename, line, frame.f_globals).strip()
        return [path, line, getattr(code, "co_qualname", code.co_name), text[:200], values]

    def _locals(self, frame):
        """[name, value] of the locals, parameters first; none of modules, functions and classes."""
        found, room = [], MOST_VALUES
        for name, value in _without_test_case(frame.f_locals).items():
            if name.startswith(_HIDDEN) or isinstance(value, type) or type(value).__name__ in _UNINFORMATIVE:
                continue
            text = _plain(self._show(value))
            room -= len(text)
            if room < 0 or len(found) >= MOST_NAMES:
                break
            found.append([name, text])
        return found


_UNINFORMATIVE = ("module", "function", "builtin_function_or_method", "method")


def _without_test_case(names):
    """The locals with the attributes that a test set on its own TestCase, instead of that with all of its own."""
    unittest = sys.modules.get("unittest")
    if unittest is None or not isinstance(names.get("self"), unittest.TestCase):
        return dict(names)
    own = {"self.%s" % key: value for key, value in vars(names["self"]).items() if not key.startswith("_")}
    return {**own, **{name: value for name, value in names.items() if name != "self"}}


def _plain(text):
    """The text without addresses, which differ from run to run."""
    return _ADDRESS.sub("", text)
