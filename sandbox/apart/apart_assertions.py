"""Watches whether the assertions of a test ran: code that returns nothing to look at passes a test that only loops.

Of a test's own assertions those count that stand in its body, or in loops and `with` blocks of it, before any return.
"""

import ast
import inspect
import sys

_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class AssertionWatch:
    """Notes which lines of one test function run."""

    def __init__(self, test):
        function = inspect.unwrap(getattr(test, "__func__", test))
        self._code, self._ran = getattr(function, "__code__", None), set()
        self._expected = _assertions(self._code) if self._code is not None else []

    def start(self):
        if self._expected:
            sys.settrace(self._trace)

    def stop(self):
        if self._expected:
            sys.settrace(None)

    def missed(self):
        """The line of the first assertion that never ran, or 0."""
        return next((first for first, last in self._expected if self._ran.isdisjoint(range(first, last + 1))), 0)

    def _trace(self, frame, _event, _argument):
        return self._trace_lines if frame.f_code is self._code else None

    def _trace_lines(self, frame, event, _argument):
        if event == "line":
            self._ran.add(frame.f_lineno)
        return self._trace_lines


def _assertions(code):
    """(first line, last line) of the assertions of a function that have to run."""
    try:
        with open(code.co_filename, encoding="utf-8-sig") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name != code.co_name:
            continue
        if min([node.lineno, *(each.lineno for each in node.decorator_list)]) == code.co_firstlineno:
            return list(_in_body(node.body))
    return []


def _in_body(body):
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else None
        method = getattr(call.func, "attr", "") if isinstance(call, ast.Call) else ""
        if isinstance(node, ast.Assert) or method.startswith("assert"):
            yield node.lineno, node.end_lineno
        elif isinstance(node, _BLOCKS):
            yield from _in_body(node.body)
        if _may_leave(node):
            return


def _may_leave(node):
    if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.Raise, ast.Break, ast.Continue)):
        return True
    return not isinstance(node, _FUNCTIONS) and any(map(_may_leave, ast.iter_child_nodes(node)))
