"""Watches the assertions of tests: whether they ran, whether one failed that did not fail its test, and their sides.

Of a test's own assertions those count that stand in its body, or in loops and `with` blocks of it, before any return.
Where a run asks for it, they are rewritten so that both sides of each are noted, and a false one does not end the test:
a pass that rests on what the code may change proves nothing where both sides come from the code.
"""

import ast
import collections
import functools
import hashlib
import inspect
import itertools
import os
import pathlib
import sys
import traceback
import types

from apart_constructions import Constructions
from apart_handles import Handle
from apart_rules import PLAIN_TYPES
from apart_sources import first_line
from apart_values import attributes_of

_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
_CONSUMERS = frozenset(("list", "tuple", "set", "all", "any", "sorted", "deque"))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class AssertionWatch:
    """Notes which assertions of one test, and of functions in its file that it calls, run."""

    def __init__(self, test, is_test_module=lambda name: True):
        function = inspect.unwrap(getattr(test, "__func__", test))
        code, space = getattr(function, "__code__", None), getattr(function, "__globals__", {})
        self._path, self._first = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
        self._functions = _functions_of(self._path, _imported_helpers(space, is_test_module))
        self._entered, self._ran, self._raised = set(), set(), set()
        self._generators, self._yielding = set(), set()

    def start(self):
        if self._functions:
            sys.settrace(self._trace)

    def stop(self):
        if self._functions:
            sys.settrace(None)

    def fault(self):
        """Returns why the pass of this test says nothing; "" where nothing is wrong with it.

        Of a test without an assertion of its own, it is enough that one of those in what it calls has run.
        """
        test = self._functions.get(self._first)
        own, nested = (test.assertions, test.nested) if test else ((), ())
        for each in own:
            helpers = [(first, *one.nested) for first, one in self._functions.items() if one.name == each.helper]
            if not _has(self._ran, each) or (helpers and self._entered.isdisjoint(itertools.chain(*helpers))):
                return "its assertion in line %d never ran" % each.first
        called = [each for first in sorted({*self._entered, *nested}) for each in self._functions[first].assertions]
        if called and not own and not any(_has(self._ran, each) for each in called):
            return "its assertion in line %d never ran" % called[0].first
        for each in [*own, *(each for first in nested for each in self._functions[first].assertions)]:
            if not each.may_raise and _has(self._raised, each):
                return "its assertion in line %d failed, and something swallowed that" % each.first
            if each.is_all and _has(self._generators - self._yielding, each):
                return "its assertion in line %d looked at nothing" % each.first
        return ""

    def _trace(self, frame, _event, _argument):
        code = frame.f_code
        if code.co_filename != self._path:
            return None
        if code.co_name in ("<genexpr>", "<listcomp>"):
            self._generators.add(code.co_firstlineno)
            return self._trace_items
        if code.co_firstlineno not in self._functions:
            return None
        self._entered.add(code.co_firstlineno)
        return self._trace_lines

    def _trace_lines(self, frame, event, argument):
        if event == "line":
            self._ran.add(frame.f_lineno)
        elif event == "exception" and not issubclass(argument[0], (StopIteration, StopAsyncIteration)):
            self._raised.add(frame.f_lineno)  # the end of an iteration is one of those that nobody sees
        return self._trace_lines

    def _trace_items(self, frame, event, argument):
        if event == "return" and argument is not None and (type(argument) is not list or argument):
            self._yielding.add(frame.f_code.co_firstlineno)
        return self._trace_items


def has_left_assertions(error):
    """Has this error ended a function with assertions, besides the one that waits for it?"""
    codes = [frame.f_code for frame, _ in traceback.walk_tb(getattr(error, "__traceback__", None))][1:]
    functions = [(code, _functions_of(code.co_filename).get(code.co_firstlineno)) for code in codes]
    return any(each and each.name == code.co_name and each.assertions for code, each in functions)


class _Assertion:
    """An assertion that has to run: its lines, and the `helper` of the file that it calls.

    `may_raise`: it stands where an exception is expected; `is_all`: it is about all items of a generator.
    """

    def __init__(self, node, helper, may_raise):
        self.first, self.last, self.helper, self.may_raise = node.lineno, node.end_lineno, helper, may_raise
        call = getattr(node, "test", None)
        self.is_all = (
            isinstance(call, ast.Call)
            and getattr(call.func, "id", "") == "all"
            and isinstance(call.args[0], (ast.GeneratorExp, ast.ListComp))
        )


# A function with assertions: `nested` are the first lines of such functions in it.
_Function = collections.namedtuple("_Function", ("name", "assertions", "nested"))  # noqa: PYI024


def _has(lines, assertion):
    return not lines.isdisjoint(range(assertion.first, assertion.last + 1))


def _imported_helpers(space, is_test_module):
    """The names of functions with assertions that a test module has from others of the tests."""
    functions = [(name, each) for name, each in space.items() if type(each) is types.FunctionType]
    codes = [(name, each.__code__) for name, each in functions if is_test_module(str(each.__module__))]
    found = [(name, _functions_of(code.co_filename).get(code.co_firstlineno)) for name, code in codes]
    return frozenset(name for name, each in found if each and each.assertions)


@functools.lru_cache(maxsize=None)
def _functions_of(path, imported=frozenset()):
    """{first line: function} of those that have assertions that have to run. `imported`: names of such functions."""
    try:
        with open(path, encoding="utf-8-sig") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    helpers = {node.name for node in functions if any(isinstance(each, ast.Assert) for each in ast.walk(node))}
    helpers |= imported
    found = {node: list(_in_body(node.body, helpers, False)) for node in functions}
    nested = {node: [each for each in ast.walk(node) if each is not node and found.get(each)] for node in functions}
    return {
        first_line(node): _Function(node.name, assertions, [first_line(each) for each in nested[node]])
        for node, assertions in found.items()
        if assertions or nested[node]
    }


def _in_body(body, helpers, may_raise):
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else None
        function = call.func if isinstance(call, ast.Call) else None
        name = getattr(function, "attr", "") or getattr(function, "id", "")
        if isinstance(node, ast.Assert):
            if not isinstance(node.test, ast.Constant):  # `assert False` must not run
                yield _Assertion(node, "", may_raise)
        elif name.startswith("assert") or name in helpers:
            yield _Assertion(node, name, may_raise)
        elif mapped := _mapped(node, name, helpers):
            yield _Assertion(node, mapped, may_raise)
        elif isinstance(node, _BLOCKS):
            expects = any("raises" in ast.dump(item).lower() for item in getattr(node, "items", ()))
            yield from _in_body(node.body, helpers, may_raise or expects)
        if _may_leave(node):
            return


def _mapped(node, name, helpers):
    """The helper that a statement such as `list(map(check, rows))` calls; "" without one."""
    if not (isinstance(node, ast.Expr) and (name in _CONSUMERS or isinstance(node.value, (ast.ListComp, ast.SetComp)))):
        return ""
    return next((each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in helpers), "")


def _may_leave(node):
    if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.Raise, ast.Break, ast.Continue)):
        return True
    return not isinstance(node, _FUNCTIONS) and any(map(_may_leave, ast.iter_child_nodes(node)))


# -- both sides of each ----------------------------------------------------------------------------------------------

SHOWN, PART = 2, 3  # the levels of an equality one side of which makes an object, and of one with a part of a side
MOST_NOTES, MOST_SITES, MOST_FALSE, MOST_PARTS = 200, 100, 2000, 2000
_SHOWN = frozenset(("datetime", "decimal", "fractions", "pathlib", "uuid", "re"))


class Operands:
    """The sides of the assertions of one case: [line, which time it runs, digest, digest, places, is_changed] each.

    `goes_on`: false ones do not end a test. `are_fixed`: a side of one of them is written in the test. `places` are
    the arguments of constructors of which an equality without such a side should say something, where it holds;
    `is_changed`: the code has a part in the class.
    """

    def __init__(self, wrong="", constructions=None):
        self.sides, self.held, self.false, self.are_fixed = [], [], 0, False
        self._goes_on, self._times, self._rest = bool(wrong), collections.Counter(), {}
        self._constructions = constructions or Constructions("", lambda kind: None)
        self.sees, self.number_of = self._constructions.watch, lambda value: ""

    def note(self, line, site, is_call, is_fixed, level, left, right, compare):
        """Evaluates both sides of a comparison, notes them, and compares them. `site`: which one of its statement.

        Of a file whose path a call is given, what it says is noted. `level`: 1 for an equality without a side that is
        written in the test, 2 where one side makes an object, 3 where the sides differ: one holds the other, or is
        what a mock was called with.
        """
        made, self._constructions.shown = self._constructions, [] if level == SHOWN else None
        self.are_fixed, values, digests, errors, named = self.are_fixed or is_fixed, [], [], [], []

        def name_of(value):
            named.append(self.number_of(value))
            return named[-1]

        for side in (left, right):
            try:
                values.append(side())
                digests.append(digest(_read(values[-1]) if is_call else values[-1], name_of if level else None))
            except Exception as error:
                digests.append(type(error).__name__)
                errors.append(error)
        shown, made.shown = made.shown, None  # the outermost one of the right side
        places = made.of([*values, *(shown or ())]) if level and not any(named) else ([], False)
        places = places if level != PART else (places[0], False)
        times = self._times[line, site]
        self._times[line, site] += 1
        noted = [line, times * MOST_SITES + site, *digests, [], False]
        if level and is_fixed and not places[0]:
            pass  # a mock was called with no objects
        elif times < MOST_NOTES or (rest := self._rest.setdefault((line, site), noted)) is noted:
            self.sides.append(noted)
        else:  # together with all further ones of its place
            rest[1:4] = noted[1], *map(digest, ((rest[2], digests[0]), (rest[3], digests[1])))
        for error in errors:
            raise error
        holds = compare(*values)
        if holds is True or holds is None:
            noted[4:] = places
        return holds

    def check(self, line, is_fixed, holds):
        """Checks an assertion. `is_fixed`: it compares nothing, so what it asks for is written in the test."""
        self.are_fixed = self.are_fixed or is_fixed
        held = [line, self._times[line], True]
        self._times[line] += 1
        if len(self.held) < MOST_NOTES:
            self.held.append(held)
        try:
            if holds() is not False:  # a call such as `assertEqual` returns nothing
                return
            error = AssertionError("a false assertion")
        except Exception as raised:
            error = raised
        self.false, held[2] = self.false + 1, False
        if not self._goes_on or self.false > MOST_FALSE:
            raise error


def _read(value):
    is_file = isinstance(value, (str, os.PathLike)) and os.path.isfile(value)
    return pathlib.Path(value).read_bytes() if is_file else value


def digest(value, name_of=None):
    """A short text that is another one for another value, and the same in another process.

    An object that is equal to itself alone is its name for an equality, where it has one, whatever its state.
    """
    left = [MOST_PARTS]
    return hashlib.sha256(repr(_parts(value, left, name_of)).encode("utf-8", "replace")).hexdigest()[:16]


def _parts(value, left, name_of, depth=0):
    left[0] -= 1
    kind = type(value)
    if kind in PLAIN_TYPES:
        return value
    if left[0] < 0 or depth > 90 or issubclass(kind, (Handle, type)):
        return kind.__name__
    if name_of and kind.__eq__ is object.__eq__ and (name := name_of(value)):
        return name
    inner = functools.partial(_parts, left=left, name_of=name_of, depth=depth + 1)
    if isinstance(value, (list, tuple)):
        return [kind.__name__, *map(inner, value)]
    if isinstance(value, (set, frozenset)):
        return [kind.__name__, *sorted(repr(inner(each)) for each in value)]
    if isinstance(value, dict):
        return [kind.__name__, *sorted(repr((inner(key), inner(held))) for key, held in dict.items(value))]
    held = attributes_of(value)
    shown = repr(value) if not held and kind.__module__ in _SHOWN else ""
    return [kind.__name__, shown, *([name, inner(each)] for name, each in held.items())]
