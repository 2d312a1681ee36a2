"""How calls, and what they do, are shown; what is read from a run. tests/sandbox/test_other_inputs.py has the runs."""

from __future__ import annotations

import ast
import json

import pytest

from greenloop.plugins.function_calls.changed_functions import ChangedFunction
from greenloop.plugins.other_inputs.other_inputs import Done, Observation, _file_text, show_call, show_done
from greenloop.plugins.other_inputs.varied_inputs import Call, Instance

CART = Instance(module="m", qualname="Cart", attributes={"items": [1], "owner": None})


@pytest.mark.parametrize(
    ("qualname", "call", "shown"),
    [
        ("f", Call(function=0, positional=(3, "x")), "f(3, 'x')"),
        ("f", Call(function=0, positional=(), named={"key": (1,)}), "f(key=(1,))"),
        ("Cart.add", Call(function=0, positional=(CART, 2)), "Cart(items=[1], owner=None).add(2)"),
        ("Cart.add", Call(function=0, positional=(3, 2)), "Cart.add(3, 2)"),
        ("f", Call(function=0, positional=([CART],)), "f([Cart(items=[1], owner=None)])"),
        ("f", Call(function=0, positional=("a" * 90,)), f"f('{'a' * 58}…)"),
    ],
)
def test_a_call_is_shown_as_in_a_program(qualname, call, shown):
    function = ChangedFunction(path="m.py", qualname=qualname, start=1, end=2, line=2)
    assert show_call(Observation(function=function, call=call, old=Done(kind=""), new=Done(kind=""))) == shown


@pytest.mark.parametrize(
    ("kind", "trees", "shown"),
    [
        ("returns", [5, None, ""], "5"),
        ("returns", [["float", "2.500000000e+00"], None, ""], "2.5"),
        ("returns", [None, ["list", []], ""], "None, and changes its arguments"),
        ("returns", [None, None, "hello\n"], "None, and prints 'hello\\n'"),
        ("returns", [["iterator", [1, 2]], None, ""], "iterator over [1, 2]"),
        ("returns", [["object", "m", "Cart", [["<items>", []]]], None, ""], "Cart(...)"),
        ("returns", ["0123abcd"], "a long result"),
        ("raises", ["KeyError", None, ""], "raises KeyError"),
    ],
)
def test_what_a_call_does(kind, trees, shown):
    assert show_done(Done(kind=kind, trees=json.dumps(trees))) == shown


def test_the_generated_file_is_python_with_nothing_of_greenloop():
    function = ChangedFunction(path="m.py", qualname="f", start=1, end=2, line=2)
    text = _file_text("m", [function], "[]", ["def test_drawn_0():\n    pass"])
    tree = ast.parse(text, feature_version=(3, 9))
    imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert "__future__" in imported
    assert not [name for name in imported if name and name.startswith("greenloop")]
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(defined) == len(set(defined))  # the runtime's modules share one namespace
    assert {"test_recording", "test_inputs", "test_told", "test_drawn_0"} <= set(defined)
