"""Records which functions of the workspace each case reaches during its setup and call, in the worker."""

import os
import sys
import threading

import pytest

MAX_FUNCTIONS = 3000  # functions recorded of one case
EXCLUDED_FOLDERS = ("site-packages", "dist-packages", "node_modules", ".venv", ".tox", ".nox", "__pypackages__")


def plugin(root, send):
    """Makes the plugin that sends one `trace` record after each case's call."""

    class Trace:
        reached = None

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_setup(self):
            self.reached = {}
            yield from _profile(root, self.reached)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self):
            yield from _profile(root, self.reached)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_teardown(self, item):
            send({"kind": "trace", "id": item.nodeid, "functions": list((self.reached or {}).values())[:MAX_FUNCTIONS]})
            self.reached = None

    return Trace()


def _profile(root, reached):
    profile = _make_profile_function(root, reached)
    previous = sys.getprofile()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(previous)
        threading.setprofile(None)


def _make_profile_function(root, reached):
    """Makes the profile function. `stacks` holds, for each thread, the workspace functions that are running."""
    code_info, stacks, ident = {}, {}, threading.get_ident
    prefix = root + os.sep

    def classify(code):
        path = code.co_filename
        function = None
        if path.startswith(prefix):
            relative = path[len(prefix) :].replace(os.sep, "/")
            if not any(part in EXCLUDED_FOLDERS for part in relative.split("/")):
                function = (relative, code.co_firstlineno, getattr(code, "co_qualname", code.co_name))
        code_info[id(code)] = (code, function)  # the code object is kept, or its id could be reused
        return function

    def profile(frame, event, _argument):
        if event not in ("call", "return"):
            return
        code = frame.f_code
        entry = code_info.get(id(code))
        function = entry[1] if entry is not None else classify(code)
        if function is None:
            return
        thread = ident()
        stack = stacks.get(thread)
        if stack is None:
            stack = stacks[thread] = []
        if event == "return":
            while stack:
                if stack.pop() is frame:
                    break
            return
        depth = len(stack)
        stack.append(frame)
        earlier = reached.get(function)
        if earlier is not None and earlier["depth"] <= depth:
            return
        caller = None
        if depth:
            calling = stack[-2]
            calling_function = code_info[id(calling.f_code)][1]
            caller = [calling_function[0], calling.f_lineno or calling_function[1], calling_function[2]]
        reached[function] = {
            "path": function[0],
            "line": function[1],
            "name": function[2],
            "depth": depth,
            "caller": caller,
        }

    return profile
