"""Watches whether the assertions of a test ran: code that returns nothing to look at passes a test that only loops.

Of a test's own assertions those count that stand in its body, or in loops and `with` blocks of it, before any return.
"""

import ast
import functools
import inspect
import sys

_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class AssertionWatch:
    """Notes which assertions of one test, and of functions in its file that it calls, run."""

    def __init__(self, test):
        code = getattr(inspect.unwrap(getattr(test, "__func__", test)), "__code__", None)
        self._path, self._first = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
        self._assertions, self._entered, self._ran = _assertions_by_function(self._path), set(), set()

    def start(self):
        if self._assertions:
            sys.settrace(self._trace)

    def stop(self):
        if self._assertions:
            sys.settrace(None)

    def missed(self):
        """The line of an assertion that had to run and did not, or 0.

        Of a test without one of its own, it is enough that one of those in what it calls has run.
        """
        own = self._assertions.get(self._first)
        if own:
            return next((first for first, last in own if not self._has_run(first, last)), 0)
        called = [lines for function in sorted(self._entered) for lines in self._assertions[function]]
        return 0 if not called or any(self._has_run(*lines) for lines in called) else called[0][0]

    def _has_run(self, first, last):
        return not self._ran.isdisjoint(range(first, last + 1))

    def _trace(self, frame, _event, _argument):
        code = frame.f_code
        if code.co_filename != self._path or code.co_firstlineno not in self._assertions:
            return None
        self._entered.add(code.co_firstlineno)
        return self._trace_lines

    def _trace_lines(self, frame, event, _argument):
        if event == "line":
            self._ran.add(frame.f_lineno)
        return self._trace_lines


@functools.lru_cache(maxsize=None)
def _assertions_by_function(path):
    """{first line of a function: (first line, last line) of its assertions that have to run}."""
    try:
        with open(path, encoding="utf-8-sig") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    helpers = {node.name for node in functions if any(isinstance(each, ast.Assert) for each in ast.walk(node))}
    found = {}
    for node in functions:
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        found[first] = list(_in_body(node.body, helpers))
    return {first: lines for first, lines in found.items() if lines}


def _in_body(body, helpers):
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else None
        function = call.func if isinstance(call, ast.Call) else None
        name = getattr(function, "attr", "") or getattr(function, "id", "")
        if isinstance(node, ast.Assert) or name.startswith("assert") or name in helpers:
            yield node.lineno, node.end_lineno
        elif isinstance(node, _BLOCKS):
            yield from _in_body(node.body, helpers)
        if _may_leave(node):
            return


def _may_leave(node):
    if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.Raise, ast.Break, ast.Continue)):
        return True
    return not isinstance(node, _FUNCTIONS) and any(map(_may_leave, ast.iter_child_nodes(node)))
