"""Records which functions of the workspace each case reaches, in the worker, and what such a record cannot show.

A case's own record has the functions that it reached before it failed. What only shows a failed assertion, and what
runs while the failure passes through the test, is recorded as reached around the case. Work that is done once for
several cases (imports, fixtures of a wider scope, caches) and work in other processes would be missing there, so it is
recorded as such.
"""

import os
import sys
import threading

import pytest

MAX_FUNCTIONS = 3000  # functions recorded of one case
EXCLUDED_FOLDERS = ("site-packages", "dist-packages", "node_modules", ".venv", ".tox", ".nox", "__pypackages__")
ALL_CASES = ""  # the name of what is shared by all cases; otherwise the path of a test file


def plugin(root, send, display, gaps):
    """Makes the plugin that sends one `trace` record after each case, and `shared` records.

    `display` is the module failure_display, `gaps` trace_gaps.
    """
    tracer = _Tracer(root, send, display, gaps)
    gaps.leave_out_rewriting(root, tracer.profile)

    class Trace:
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_load_initial_conftests(self):
            yield from tracer.trace_shared(ALL_CASES)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection(self):
            yield from tracer.trace_shared(ALL_CASES)
            tracer.send_shared(caches=True)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_protocol(self, item):
            yield from tracer.trace_case(item.nodeid)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_setup(self, item):
            yield from tracer.trace_own(item)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self, item):
            yield from tracer.trace_own(item)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_fixture_setup(self, fixturedef, request):
            # What such a fixture does is done in the first case that asks for it, and serves the others too.
            scope = fixturedef.scope
            if scope == "function":
                yield
            else:
                file = str(request.node.nodeid).split("::", 1)[0] if scope in ("class", "module") else ALL_CASES
                yield from tracer.share(file)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_teardown(self, item, nextitem):
            file, following = (str(each.nodeid).split("::", 1)[0] if each else "" for each in (item, nextitem))
            # Fixtures of a wider scope may end with the last case of a file.
            scope = None if file == following else file if following else ALL_CASES
            yield from tracer.trace_around(scope)

        @pytest.hookimpl(tryfirst=True)
        def pytest_sessionfinish(self):
            tracer.send_shared(caches=True)

    return Trace()


class _Tracer:
    """Functions that the current case has reached, or cases share; `profile` is the profile function of all threads."""

    def __init__(self, root, send, display, gaps):
        self._root, self._send, self._display, self._gaps = root, send, display, gaps
        self._reached, self._also, self._is_own = {}, set(), False
        self._handled = {}  # by function: the exception that was being handled when it was first entered
        self._shared, self._sharing, self._sent = {}, [], {}
        self._edges, self._new_edges = set(), []
        self._is_blind = False
        self._blind_scopes = set()
        self.imports = 0
        self.profile = _make_profile_function(self, root, display, gaps.PROCESS_FUNCTIONS)

    def trace_case(self, case):
        """Collects what one case reaches, and sends it after its teardown (a generator around the case)."""
        self._reached, self._also, self._is_own, self._is_blind = {}, set(), False, False
        self._handled = {}
        children = self._gaps.children_use()
        yield
        is_blind = self._is_blind or len(self._reached) > MAX_FUNCTIONS or self._gaps.children_use() != children
        reached = {function[:2] for function in self._reached}
        also = [list(each) for each in self._also if each not in reached]
        self._send(
            {
                "kind": "trace",
                "id": case,
                "functions": list(self._reached.values())[:MAX_FUNCTIONS],
                "also": also[:MAX_FUNCTIONS],
                "calls_of": self._new_edges,
                "blind": is_blind,
            }
        )
        self._new_edges = []
        self.send_shared()

    def trace_own(self, item):
        """Traces what is the case's own: its setup or its call."""
        self._is_own = True
        try:
            outcome = yield from self._profiled()
        finally:
            self._is_own = False
        # Functions that were first entered while one of these failures was passing were reached after it.
        failures = self._display.ending_exceptions(item, outcome)
        for function, handled in self._handled.items():
            if any(handled is each for each in failures):
                self._reached.pop(function, None)
                self._also.add(function[:2])
        self._handled = {}

    def trace_around(self, scope):
        """Traces a case's teardown; `scope`: what ends there served these cases, None: this one alone."""
        if scope is None:
            yield from self._profiled()
        else:
            yield from self.trace_shared(scope, is_blinding=False)

    def trace_shared(self, scope, is_blinding=True):
        """Traces what is done for all cases of a scope."""
        was_blind, self._is_blind = self._is_blind, False
        self._sharing.append(scope)
        try:
            yield from self._profiled()
        finally:
            self._sharing.pop()
            if self._is_blind and is_blinding:
                self._blind_scopes.add(scope)
            self._is_blind = was_blind or (self._is_blind and not is_blinding)

    def share(self, scope):
        """Credits the code that runs here, in a case, to all cases of a scope."""
        self._sharing.append(scope)
        try:
            yield
        finally:
            self._sharing.pop()

    def send_shared(self, caches=False):
        """Sends what is shared and was not sent yet; `caches`: also the functions whose results are kept."""
        cached = self._gaps.cached_functions(self._root) if caches else []
        for scope in sorted({*self._shared, *self._blind_scopes, *([ALL_CASES] if cached or self._new_edges else [])}):
            lines = sorted(self._shared.get(scope, set()) - self._sent.get(scope, set()))
            is_blind = scope in self._blind_scopes
            mine, edges = (cached, self._new_edges) if scope == ALL_CASES else ([], [])
            if not (lines or mine or edges or is_blind):
                continue
            self._send(
                {
                    "kind": "shared",
                    "id": scope,
                    "also": [list(each) for each in lines],
                    "cached": mine,
                    "calls_of": edges,
                    "blind": is_blind,
                }
            )
            self._sent.setdefault(scope, set()).update(lines)
            if scope == ALL_CASES:
                self._new_edges = []
        self._blind_scopes.clear()

    def note_call(self, function, depth, caller, is_shown=False):
        """A workspace function was entered, `depth` workspace calls below the test; `caller`: (function, line).

        `is_shown`: only because a failed assertion shows its values.
        """
        if caller is not None and (function, caller[0]) not in self._edges:
            self._edges.add((function, caller[0]))
            self._new_edges.append([function[0], function[1], caller[0][0], caller[0][1]])
        line = function[:2]
        if function[2] != "<module>":
            if self._sharing:
                self._shared.setdefault(self._sharing[-1], set()).add(line)
            elif self.imports:  # a module is imported once, whichever case does it
                self._shared.setdefault(ALL_CASES, set()).add(line)
            if is_shown or not self._is_own:
                self._also.add(line)
        if is_shown or not self._is_own:
            return
        earlier = self._reached.get(function)
        if earlier is None:
            handled = sys.exc_info()[1]
            if handled is not None:
                self._handled[function] = handled
        elif earlier["depth"] <= depth:
            return
        self._reached[function] = {
            "path": function[0],
            "line": function[1],
            "name": function[2],
            "depth": depth,
            "caller": None if caller is None else [caller[0][0], caller[1] or caller[0][1], caller[0][2]],
        }

    def _profiled(self):
        previous = sys.getprofile()
        threading.setprofile(self.profile)
        sys.setprofile(self.profile)
        try:
            return (yield)
        finally:
            if sys.getprofile() is not self.profile:  # the tests have a profiler of their own
                self._is_blind = True
            sys.setprofile(previous)
            threading.setprofile(None)

    def note_process(self, frame):
        """A process is started by this frame."""
        if not self._gaps.runs_no_python(frame.f_locals):
            self._is_blind = True
            if self._sharing:
                self._blind_scopes.add(self._sharing[-1])


def _make_profile_function(tracer, root, display, process_functions):
    """Makes the profile function. `stacks` holds, for each thread, the workspace functions that are running.

    `showing` holds, for each thread, the frame that shows a failed assertion's values, while it runs.
    """
    code_info, stacks, showing, ident = {}, {}, {}, threading.get_ident
    entered = set()  # the frames of both
    may_show_failure, shows_failure = display.may_show_failure, display.shows_failure
    prefix, note_call = root + os.sep, tracer.note_call

    def classify(code):
        path = code.co_filename
        function = display if may_show_failure(code) else None
        if path.startswith(prefix):
            relative = path[len(prefix) :].replace(os.sep, "/")
            if not any(part in EXCLUDED_FOLDERS for part in relative.split("/")):
                function = (relative, code.co_firstlineno, getattr(code, "co_qualname", code.co_name))
        code_info[id(code)] = (code, function)  # the code object is kept, or its id could be reused
        return function

    def leave(frame):
        entered.discard(frame)
        thread, last = ident(), None
        if showing.get(thread) is frame:
            del showing[thread]
            return
        stack = stacks.get(thread, ())
        while stack and last is not frame:
            last = stack.pop()
            entered.discard(last)
            if last.f_code.co_name == "<module>":
                tracer.imports -= 1

    def profile(frame, event, argument):
        if event == "return":
            if frame in entered:
                leave(frame)
            return
        if event != "call":
            if event == "c_call" and argument in process_functions:
                tracer.note_process(frame)
            return
        code = frame.f_code  # slow: audit hooks run
        entry = code_info.get(id(code))
        function = entry[1] if entry is not None else classify(code)
        if function is None:
            return
        thread = ident()
        if function is display:
            if thread not in showing and shows_failure(frame):
                showing[thread] = frame
                entered.add(frame)
            return
        stack = stacks.get(thread)
        if stack is None:
            stack = stacks[thread] = []
        depth, caller = len(stack), None
        if depth:
            calling = stack[-1]
            caller = (code_info[id(calling.f_code)][1], calling.f_lineno)
        stack.append(frame)
        entered.add(frame)
        if code.co_name == "<module>":
            tracer.imports += 1
        note_call(function, depth, caller, thread in showing)

    return profile
