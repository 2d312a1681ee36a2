"""Rewrites the assertions of tests: both sides of each are noted, and a false one does not end the test."""

import ast
import copy
import os
import re

from _pytest.assertion import rewrite as of_pytest

NOTE = "apart_note"  # a builtin name of the judge's process
SIDES = ("apart_left", "apart_right")
_NOT_IN_A_LAMBDA = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
_OF_MOCKS = re.compile("assert_(any_call|(called|awaited)(_once)?_with|has_(calls|awaits))")
_EQUALITY = re.compile("assert(?!Not)([A-Z][a-z]+)*Equals?$")
_HOLDING = ("assertIn", "assertCountEqual")
_WRITTEN = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp, ast.unaryop, ast.expr_context)


def rewrite(tree):
    """Changes the assertions of a module in place."""
    ast.fix_missing_locations(_Rewriter().visit(tree))


def rewrite_all():
    """Has the assertions of all modules rewritten from now on, but not those of installed plugins."""
    rewrite_asserts = of_pytest.rewrite_asserts

    def rewrite_more(tree, source, path=None, config=None):
        if {"site-packages", "dist-packages"}.isdisjoint(str(path).split(os.sep)):
            rewrite(tree)
        rewrite_asserts(tree, source, path, config)

    of_pytest.rewrite_asserts, of_pytest._read_pyc = rewrite_more, lambda *_args, **_keywords: None


class _Rewriter(ast.NodeTransformer):
    def visit_Call(self, node):
        """Has constructors seen before they are called, so that a run can make their arguments wrong."""
        self.generic_visit(node)
        if _is_construction(node):
            node.func = _call("sees", node.func)
        return node

    def visit_Assert(self, node):
        return self._checked(node, "test", lambda test: ast.Call(ast.Name("bool", ast.Load()), [test], []))

    def visit_Expr(self, node):
        is_assertion = _called(node).startswith("assert")
        return self._checked(node, "value", lambda call: call) if is_assertion else self.generic_visit(node)

    def visit_If(self, node):
        last = node.body[-1]
        is_false = isinstance(last, ast.Assert) and isinstance(last.test, ast.Constant)
        if is_false or isinstance(last, ast.Raise) or _called(last) == "fail":
            node.test = _Truth().visit(node.test)
        return self.generic_visit(node)

    def _checked(self, node, field, made):
        """`node` as a call that notes what it compares, and checks it; where it cannot be put off, it only notes."""
        self.generic_visit(node)
        truth, can_wait = _Truth(), _can_wait(node)
        setattr(node, field, truth.visit(getattr(node, field)))
        checked = _call(
            "check", ast.Constant(node.lineno), ast.Constant(not truth.sites), _function((), made(getattr(node, field)))
        )
        return ast.copy_location(ast.Expr(checked), node) if can_wait else node


class _Truth(ast.NodeTransformer):
    """Notes the sides of each comparison that decides over the truth of an expression."""

    def __init__(self):
        self.sites = 0

    def generic_visit(self, node):
        return super().generic_visit(node) if isinstance(node, (ast.BoolOp, ast.UnaryOp)) else node

    def visit_Call(self, node):
        if len(node.args) == 1 and hasattr(node.args[0], "elt"):  # `all(a == b for a, b in pairs)`
            node.args[0].elt = self.visit(node.args[0].elt)
        elif len(node.args) == 1 and not isinstance(node.args[0], ast.Call):  # `assertFalse(a != b)`
            node.args[0] = self.visit(node.args[0])
        return self.visit_Compare(node)

    def visit_Compare(self, node):
        if isinstance(getattr(node, "left", None), (ast.Compare, ast.BoolOp)):  # `(a == b) is True`
            node.left = self.visit(node.left)
            return node
        kept = copy.deepcopy(node)
        sides = _take_sides(node)
        if sides is None or not _can_wait(node):
            return kept
        written = [*sides, *getattr(node, "comparators", ())[:-1]]
        is_fixed = any(all(isinstance(each, _WRITTEN) for each in ast.walk(side)) for side in written)
        operator = getattr(node, "ops", [getattr(getattr(node, "func", None), "attr", "")])[0]
        is_equality = not is_fixed and (isinstance(operator, ast.Eq) or _EQUALITY.match(str(operator)))
        level = 1 + any(map(_shows_construction, sides)) if is_equality else 0
        if _OF_MOCKS.match(str(operator)) or (not is_fixed and (isinstance(operator, ast.In) or operator in _HOLDING)):
            level = 3
        fields = node.lineno, self.sites, isinstance(node, ast.Call), is_fixed, level
        here = SIDES[:1], ast.Name(SIDES[0], ast.Load())  # a side that cannot be put off is evaluated at once
        sides = [_function((), side) if _can_wait(side) else _function(*here, [side]) for side in sides]
        self.sites += 1
        return ast.copy_location(_call("note", *map(ast.Constant, fields), *sides, _function(SIDES, node)), node)


def _called(node):
    """The name of the method or attribute that a statement calls."""
    return getattr(getattr(getattr(node, "value", None), "func", None), "attr", "")


def _is_construction(node):
    """True if an expression calls what is named like a class."""
    function = getattr(node, "func", None)
    name = getattr(function, "attr", "") or getattr(function, "id", "")
    return name.lstrip("_")[:1].isupper()


def _shows_construction(side):
    """True for `Point(1, 2)` and `vars(Point(1, 2))`, which are seen."""
    calls = (getattr(each, "func", None) for each in (side, *getattr(side, "args", ())))
    return any(getattr(getattr(each, "func", None), "attr", "") == "sees" for each in calls)


def _can_wait(node):
    """True if an expression may become a function of its own, which runs later."""
    return not any(
        isinstance(each, _NOT_IN_A_LAMBDA) or getattr(each, "is_async", 0) or getattr(each, "id", "") == "super"
        for each in ast.walk(node)
    )


def _call(method, *arguments):
    return ast.Call(ast.Attribute(ast.Name(NOTE, ast.Load()), method, ast.Load()), [*arguments], [])


def _function(names, body, values=()):
    return ast.Lambda(ast.arguments([], [ast.arg(each) for each in names], None, [], [], None, [*values]), body)


def _take_sides(test):
    """Takes both sides out of a comparison, or of a call with two arguments, and puts names there; None without."""
    names = [ast.Name(each, ast.Load()) for each in SIDES]
    operators = getattr(test, "ops", ())
    if isinstance(test, ast.Call) and _OF_MOCKS.match(getattr(test.func, "attr", "")):
        names_given = [each.arg and ast.Constant(each.arg) for each in test.keywords]
        named = ast.Dict(names_given, [each.value for each in test.keywords])
        given = ast.Tuple([ast.Tuple(test.args, ast.Load()), named], ast.Load())
        args, keywords = (ast.Subscript(names[1], ast.Constant(place), ast.Load()) for place in range(2))
        test.args, test.keywords = [ast.Starred(args, ast.Load())], [ast.keyword(None, keywords)]
        return ast.Constant(None), given
    if isinstance(test, ast.Compare) and all(isinstance(each, ast.Eq) for each in operators[len(operators) == 1 :]):
        if isinstance(operators[0], (ast.Is, ast.IsNot)):
            return None
        left = test.left
        inner = left.args[0] if isinstance(left, ast.Call) and len(left.args) == 1 else None
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):  # abs(found - expected) < 1e-9
            sides = inner.left, inner.right
            inner.left, inner.right = names
        else:
            sides = left, test.comparators[-1]
            test.left, test.comparators[-1] = names
        return sides
    if isinstance(test, ast.Call) and len(test.args) > 1 and not any(isinstance(e, ast.Starred) for e in test.args):
        sides, test.args[:2] = test.args[:2], names
        return sides
    return None
