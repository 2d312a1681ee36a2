"""Rewrites the assertions of tests so that the two sides of each are noted, and where a false one is, the test goes on.

A pass that rests on what the code may change proves nothing where both sides of an assertion come from the code.
"""

import ast
import collections
import functools
import hashlib

from apart_handles import Handle
from apart_rules import CannotCross
from apart_values import attributes_of

NOTE = "apart_note"  # a builtin name of the judge's process
SIDES = ("apart_left", "apart_right")
MOST_NOTES, MOST_FALSE, MOST_PARTS = 2000, 200, 2000
PLAIN = (type(None), bool, int, float, complex, str, bytes)
_NOT_IN_A_LAMBDA = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
_WRITTEN = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp, ast.unaryop, ast.expr_context)
_SHOWN = frozenset(("datetime", "decimal", "fractions", "pathlib", "uuid", "re"))


class Operands:
    """The sides of the assertions of one case: [line, which time it runs, digest, digest] each.

    `goes_on`: false ones do not end a test. `are_fixed`: a side of one of them is written in the test.
    """

    def __init__(self, goes_on):
        self.sides, self.false, self._goes_on, self._times = [], 0, goes_on, collections.Counter()
        self.are_fixed = False

    def note(self, line, is_fixed, left, right, check):
        """Evaluates both sides of an assertion, notes them, and checks it."""
        values, digests, self.are_fixed = [], [], self.are_fixed or is_fixed
        for side in (left, right):
            try:
                values.append(side())
                digests.append(digest(values[-1]))
            except CannotCross:
                raise
            except Exception as error:
                digests.append(type(error).__name__)
                if not self._goes_on:
                    raise
        if len(self.sides) < MOST_NOTES:
            self.sides.append([line, self._times[line], *digests])
            self._times[line] += 1
        self._check(lambda: len(values) == 2 and check(*values))

    def check(self, holds):
        """Checks an assertion without two sides, which asks for yes, no, or nothing at all."""
        self.are_fixed = True
        self._check(holds)

    def _check(self, holds):
        try:
            if holds() is not False:  # a call such as `assertEqual` returns nothing
                return
            error = AssertionError("a false assertion")
        except CannotCross:
            raise
        except Exception as raised:
            error = raised
        self.false += 1
        if not self._goes_on or self.false > MOST_FALSE:
            raise error


def rewrite(tree):
    """Changes the assertions of a module in place."""
    ast.fix_missing_locations(_Rewriter().visit(tree))


class _Rewriter(ast.NodeTransformer):
    def visit_Assert(self, node):
        return self._noted(node, node.test, lambda check: ast.Call(ast.Name("bool", ast.Load()), [check], []))

    def visit_Expr(self, node):
        call = node.value
        name = getattr(call.func, "attr", "") if isinstance(call, ast.Call) else ""
        return self._noted(node, call, lambda check: check) if name.startswith("assert") else node

    def _noted(self, node, test, made):
        """`node` as a call that notes both sides, or that only checks, where there are no two."""
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if "super" in names or any(isinstance(each, _NOT_IN_A_LAMBDA) for each in ast.walk(node)):
            return node
        method, arguments, sides = "check", [], _take_sides(test)
        if sides is not None:
            is_fixed = any(all(isinstance(each, _WRITTEN) for each in ast.walk(side)) for side in sides)
            method, arguments = "note", [ast.Constant(node.lineno), ast.Constant(is_fixed)]
            arguments += [_function((), side) for side in sides]
        check = _function(SIDES if sides else (), made(test))
        noted = ast.Call(ast.Attribute(ast.Name(NOTE, ast.Load()), method, ast.Load()), [*arguments, check], [])
        return ast.copy_location(ast.Expr(noted), node)


def _function(names, body):
    return ast.Lambda(ast.arguments([], [ast.arg(each) for each in names], None, [], [], None, []), body)


def _take_sides(test):
    """Takes both sides out of a comparison, or of a call with two arguments, and puts names there; None without."""
    names = [ast.Name(each, ast.Load()) for each in SIDES]
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        left = test.left
        inner = left.args[0] if isinstance(left, ast.Call) and len(left.args) == 1 else None
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):  # abs(found - expected) < 1e-9
            sides = inner.left, inner.right
            inner.left, inner.right = names
        else:
            sides = left, test.comparators[0]
            test.left, test.comparators = names[0], names[1:]
        return sides
    if isinstance(test, ast.Call) and len(test.args) > 1 and not any(isinstance(e, ast.Starred) for e in test.args):
        sides, test.args[:2] = test.args[:2], names
        return sides
    return None


def digest(value):
    """A short text that is another one for another value, and the same in another process."""
    left = [MOST_PARTS]
    return hashlib.sha256(repr(_parts(value, left)).encode("utf-8", "replace")).hexdigest()[:16]


def _parts(value, left, depth=0):
    left[0] -= 1
    kind = type(value)
    if kind in PLAIN:
        return value
    if left[0] < 0 or depth > 8 or issubclass(kind, (Handle, type)):
        return kind.__name__

    inner = functools.partial(_parts, left=left, depth=depth + 1)
    if isinstance(value, (list, tuple)):
        return [kind.__name__, *map(inner, value)]
    if isinstance(value, (set, frozenset)):
        return [kind.__name__, *sorted(repr(inner(each)) for each in value)]
    if isinstance(value, dict):
        return [kind.__name__, *sorted(repr((inner(key), inner(held))) for key, held in dict.items(value))]
    held = attributes_of(value)
    shown = repr(value) if not held and kind.__module__ in _SHOWN else ""
    return [kind.__name__, shown, *([name, inner(each)] for name, each in held.items())]
