"""Which functions of the workspace each case reaches: recorded in the worker while a case is set up and called."""

import os
import sys
import threading

import pytest

MOST = 3000  # functions a case
LEFT_OUT = ("site-packages", "dist-packages", "node_modules", ".venv", ".tox", ".nox", "__pypackages__")


def plugin(root, send):
    """The plugin that sends one `trace` record after each case's call."""

    class Trace:
        reached = None

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_setup(self):
            self.reached = {}
            yield from _recorded(root, self.reached)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self):
            yield from _recorded(root, self.reached)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_teardown(self, item):
            send({"kind": "trace", "id": item.nodeid, "functions": list((self.reached or {}).values())[:MOST]})
            self.reached = None

    return Trace()


def _recorded(root, reached):
    watch = _watch(root, reached)
    before = sys.getprofile()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def _watch(root, reached):
    """The profile function. `stacks` has, for each thread, the workspace functions under way."""
    known, stacks, ident = {}, {}, threading.get_ident
    prefix = root + os.sep

    def about(code):
        path = code.co_filename
        inside = None
        if path.startswith(prefix):
            relative = path[len(prefix) :].replace(os.sep, "/")
            if not any(part in LEFT_OUT for part in relative.split("/")):
                inside = (relative, code.co_firstlineno, getattr(code, "co_qualname", code.co_name))
        known[id(code)] = (code, inside)  # the code object is kept, or its id could be used again
        return inside

    def watch(frame, event, _argument):
        if event not in ("call", "return"):
            return
        code = frame.f_code
        entry = known.get(id(code))
        inside = entry[1] if entry is not None else about(code)
        if inside is None:
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
        old = reached.get(inside)
        if old is not None and old["depth"] <= depth:
            return
        caller = None
        if depth:
            calling = stack[-2]
            found = known[id(calling.f_code)][1]
            caller = [found[0], calling.f_lineno or found[1], found[2]]
        reached[inside] = {"path": inside[0], "line": inside[1], "name": inside[2], "depth": depth, "caller": caller}

    return watch
