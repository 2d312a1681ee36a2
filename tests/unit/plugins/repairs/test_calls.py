"""Calls that are not awaited, and their arguments."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.compose import region_text
from greenloop.plugins.repairs.calls import missing_awaits, wrong_arguments

COROUTINE = ("", "1", "<coroutine object g at 0x7>")
OTHER = ("", "1", "2")


@pytest.mark.parametrize(
    ("header", "body", "failure", "wanted"),
    [
        ("async def f(s)", "return g(s)", COROUTINE, ["return await g(s)"]),
        ("async def f(s)", "return g(s).x + await h()", COROUTINE, ["return (await g(s)).x + await h()"]),
        ("async def f(s)", "return g(s)", OTHER, []),
        ("def f(s)", "return g(s)", COROUTINE, []),
    ],
)
def test_a_coroutine_is_awaited(failing, header, body, failure, wanted):
    text = f"    {header}:\n        {body}\n"
    changes = list(missing_awaits(text, failing(failure)))
    assert [change.text.partition("\n")[2].strip() for change in changes] == wanted
    assert {change.line for change in changes} <= {2}


def test_code_that_is_no_function(failing):
    for text in ("X = 1\n", "def f(:\n"):
        assert not list(missing_awaits(text, failing(COROUTINE)))


TEXT = """def g(x, y):
    z = 1
    return {}


def pad(text, width=3, *, fill=" "):
    return text


class User:
    def __init__(self, name, age):
        self.name = name
"""
UNEXPECTED, TOO_MANY = (
    "pad() got an unexpected keyword argument '{}'",
    "pad() takes 2 positional arguments but {} {} given",
)


@pytest.mark.parametrize(
    ("call", "message", "wanted"),
    [
        ("pad(x, widht=y)", UNEXPECTED.format("widht"), ["pad(x, width=y)", "pad(x, fill=y)", "pad(x)"]),
        ("pad(x, 2, fil=y, *z)", UNEXPECTED.format("fil"), ["pad(x, 2, fill=y, *z)", "pad(x, 2, *z)"]),
        ("pad(wdth=y, text=x)", UNEXPECTED.format("wdth"), ["pad(width=y, text=x)", "pad(fill=y, text=x)", "pad(text=x)"]),
        ("pad(x, y, z)", TOO_MANY.format(3, "were"), ["pad(x, y, fill=z)", "pad(x, y)", "pad(x, z)", "pad(y, z)"]),
        ("pad(x)", "pad() takes 0 positional arguments but 1 was given", ["pad(fill=x)", "pad()"]),
        (
            "pad(x, y, z, fill=1)",
            "pad() takes from 1 to 2 positional arguments but 3 were given",
            ["pad(x, y, fill=1)", "pad(x, z, fill=1)", "pad(y, z, fill=1)"],
        ),
        ("m.pad(x, x, y)", TOO_MANY.format(3, "were"), ["m.pad(x, x, fill=y)", "m.pad(x, x)", "m.pad(x, y)", "m.pad(x, y)"]),
        ("pad()", "pad() missing 1 required positional argument: 'text'", ["pad(x)", "pad(y)", "pad(z)"]),
        ("pad(width=z)", "pad() missing 1 required positional argument: 'x'",
         ["pad(width=z, x=x)", "pad(width=z, x=y)", "pad(width=z, x=z)"]),
        ("User(1)", "User.__init__() missing 1 required positional argument: 'y'", ["User(1, y)", "User(1, x)", "User(1, z)"]),
        ("User()", "User.__init__() missing 2 required positional arguments: 'x' and 'y'", ["User(x, y)"]),
        ("User()", "User.__init__() missing 2 required positional arguments: 'name' and 'age'", []),
        ("other(x, widht=y)", UNEXPECTED.format("widht"), []),
        ("pad(x)", "unsupported operand type(s) for +: 'int' and 'str'", []),
    ],
)  # fmt: skip
def test_which_calls_are_tried(problem, failing, call, message, wanted):
    case = problem(TEXT.format(call), "g")
    found = [*wrong_arguments(case, case.regions[0], failing((message, None, None), kind="TypeError"))]
    rows = [each.texts[case.regions[0]].split("\n")[2].strip() for each in found]
    assert rows == [f"return {each}" for each in wanted]


def test_only_where_it_is_a_type_error_of_a_function(problem, failing):
    case = problem(TEXT.format("pad(x, widht=y)"), "g")
    assert not [*wrong_arguments(case, case.regions[0], failing((UNEXPECTED.format("widht"), None, None)))]
    case = problem("TABLE = pad(1, widht=2)\n" + TEXT, "pad")
    assert not [
        *wrong_arguments(case, case.regions[0], failing((UNEXPECTED.format("widht"), None, None), kind="TypeError"))
    ]
    assert region_text(case, case.regions[0]).startswith("def pad")


@pytest.mark.parametrize(
    ("call", "message", "wanted"),
    [
        ("tables.to_text(x, line_end=y)", "Frame.to_text() got an unexpected keyword argument 'line_end'",
         "tables.to_text(x, lineend=y)"),
        ("tables.Whole(missing=1)", "Field.__init__() got an unexpected keyword argument 'missing'",
         "tables.Whole(default=1)"),
    ],
)  # fmt: skip
def test_the_function_may_be_one_of_an_installed_package(problem, failing, tmp_path, call, message, wanted):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "__init__.py").write_text(
        "class Frame:\n    @overload\n    def to_text(self): ...\n    def to_text(self, *, sep, lineend): ...\n\n\n"
        "class Field:\n    def __init__(self, *, default=None): ...\n\n\nclass Whole(Field): ...\n"
    )
    text = f"import tables\n\n\ndef g(x, y):\n    return {call}\n"
    case = replace(problem(text, "g"), sites=(tmp_path,))
    attempt = failing((message, None, None), kind="TypeError")
    changed = [each.texts[case.regions[0]] for each in wrong_arguments(case, case.regions[0], attempt)]
    assert changed[0] == region_text(case, case.regions[0]).replace(call, wanted)
