"""What a maintainer would send back: each kind of blemish, and honest code that is none of them."""

from __future__ import annotations

import textwrap

import pytest

from greenloop.plugins.conversations.clean_edit import find_blemishes


def blemishes(before, after):
    old, new = (textwrap.dedent(text).lstrip("\n") for text in (before, after))
    return find_blemishes({"m.py": old}, {"m.py": new})


def function(*rows):
    return "def f(x, y=None):\n" + "".join(f"    {row}\n" for row in rows)


HONEST = {
    "a loop that ends by break": ("while True:", "    if x:", "        break", "    x = step(x)", "return x"),
    "counting": ("x = x + 1", "x += 1", "return x"),
    "a swap": ("x, y = y, x", "x, y = y, x + y", "return x"),
    "a default that is overwritten in a branch": ("size = 1", "if x:", "    size = 2", "return size"),
    "a default that is overwritten in a loop": ("found = None", "for each in x:", "    found = each", "return found"),
    "a value that the next one needs": ("x = x.strip()", "x = x.lower()", "return x"),
    "a result that is not needed": ("x = next(y)", "x = next(y)", "x = None", "return x"),
    "an annotation first": ("size: int", "size = len(x)", "return size"),
    "not implemented": ("raise NotImplementedError",),
    "else after return": ("if x:", "    return 1", "else:", "    return 2"),
    "elif after return": ("if x:", "    return 1", "elif y:", "    return 2", "return 3"),
    "a loop with continue": ("for each in x:", "    if each:", "        continue", "    y(each)", "return y"),
    "for and else": ("for each in x:", "    if each:", "        break", "else:", "    return 1", "return 2"),
    "finally after return": ("try:", "    return 1", "finally:", "    y()"),
    "return in every handler": (
        "try:",
        "    return x()",
        "except KeyError:",
        "    return 1",
        "except OSError:",
        "    return 1",
    ),
    "the same return in two branches": ("if x:", "    return y", "if y:", "    return y", "return x"),
    "the same condition with other code between": ("if x:", "    x = step(x)", "if x:", "    return 1", "return 2"),
    "the same condition in the other branch": (
        "if x:",
        "    if y:",
        "        return 1",
        "else:",
        "    if y:",
        "        return 2",
        "return 3",
    ),
    "the same condition below another statement": (
        "if x:",
        "    x = step(x)",
        "    if x:",
        "        return 1",
        "return 2",
    ),
    "conditions that only look alike": ("if x == 1:", "    return 1", "elif x == 2:", "    return 2", "return x"),
    "match": (
        "match x:",
        "    case 1 | 2:",
        "        return 1",
        "    case [1, *_]:",
        "        return 1",
        "    case _:",
        "        return 1",
    ),
    "assert_never": ("if x:", "    return 1", "else:", "    assert_never(x)"),
    "an attribute twice": ("self.x = 1", "self.x = 2", "return self"),
    "an item twice": ("x[0] = 1", "x[1] = 1", "return x"),
    "two calls that are equal": ("x.readline()", "x.readline()", "return x"),
    "two equal assignments of calls": ("first = next(x)", "second = next(x)", "return first, second"),
    "a header that is read twice": ("line = x.readline()", "line = x.readline()", "return line"),
    "yield after raise": ("raise ValueError", "yield"),
    "yield after return": ("return", "yield"),
    "the same call in a condition": ("if x.read(1) and x.read(1):", "    return 1", "return 2"),
    "the same call in two conditions": ("if next(x):", "    return 1", "elif next(x):", "    return 2", "return 3"),
    "a call in a condition within itself": ("if y():", "    if y():", "        return 1", "return 2"),
    "at most two of a queue": ("if x:", "    x.pop()", "if x:", "    x.pop()", "return x"),
    "halved twice": ("x = x // 2", "x = x // 2", "return x"),
    "walrus": ("if (x := y()) and (x := y()):", "    return x", "return y"),
    "an unused global": ("global g", "g = x", "return g"),
    "a deleted name": ("value = x", "del value", "value = y", "return value"),
    "comments that say why": (
        "# We return x: the caller wants y.",
        "# Return x, if x is there, else y.",
        "return x or y",
    ),
    "a comment with a link": ("# https://example.org/return", "return x"),
    "a short comment": ("# y = x", "return x"),
    "chained comparisons": ("return x < 1 and y < 1 and x < y",),
    "with, twice": ("with x:", "    y()", "with x:", "    y()", "return 1"),
    "await": ("x = y", "return [each async for each in x]"),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_is_no_blemish(name):
    assert blemishes(function("return x"), function(*HONEST[name])) == ()


MODULES = {
    "overloads": "@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\ndef f(x):\n    return x\n",
    "property and setter": "class A:\n    @property\n    def x(self):\n        return 1\n\n"
    "    @x.setter\n    def x(self, value):\n        self.y = value\n",
    "an import that may fail": "try:\n    import tomllib\nexcept ImportError:\n    tomllib = None\n",
    "a constant by platform": "import sys\nNAME = 'a'\nif sys.platform == 'win32':\n    NAME = 'b'\n",
    "an alias of a class": "class A:\n    x = 1\n    y = x\n",
    "a docstring with code": 'def f(x):\n    """Adds.\n\n    x = x + 1\n    return x\n    """\n    return x + 1\n',
    "a type variable": "from typing import TypeVar\nT = TypeVar('T')\nT = TypeVar('T', bound=int)\n",
    "code that cannot be parsed": "def f(:\n    return 1\n    return 2\n",
}


@pytest.mark.parametrize("name", MODULES)
def test_honest_modules_have_no_blemish(name):
    assert blemishes("x = 1\n", MODULES[name]) == ()


POOR = {
    "code after return": (("return x", "return y"), "`return y` can never run"),
    "code after raise": (("raise ValueError", "x = 1", "return x"), "`x = 1` can never run"),
    "code after continue": (("for each in x:", "    continue", "    y()", "return y"), "`y()` can never run"),
    "code after break": (("while x:", "    break", "    y()", "return y"), "`y()` can never run"),
    "overwritten at once": (("size = 1", "size = len(x)", "return size"), "`size = 1` is overwritten by the next line"),
    "an if twice": (("if x:", "    return 1", "if x:", "    return 1", "return 2"), "`if x:` is there twice"),
    "an assignment twice": (("size = y.size", "size = y.size", "return size"), "`size = y.size` is there twice"),
    "isinstance again": (
        ("if isinstance(x, int):", "    return 1", "elif isinstance(x, int):", "    return 2"),
        "`elif isinstance(x, int)` repeats a condition",
    ),
    "an elif again": (
        ("if x:", "    return 1", "elif y:", "    return 2", "elif x:", "    return 3"),
        "`elif x` repeats a condition",
    ),
    "an if within itself": (
        ("if x:", "    if x:", "        return 1", "return 2"),
        "`if x` repeats the condition around it",
    ),
    "a condition twice": (("return x and y and x",), "the same condition twice in `x and y and x`"),
    "or twice": (
        (
            "if x or x:",
            "    return 1",
        ),
        "the same condition twice in `x or x`",
    ),
    "old code in a comment": (("# value = len(x) + 1", "return x"), "`# value = len(x) + 1` is code in a comment"),
}
OLD = function("value = len(x) + 1", "return x")


@pytest.mark.parametrize("name", POOR)
def test_each_kind_is_named(name):
    rows, sentence = POOR[name]
    (found,) = blemishes(OLD, function(*rows))
    assert sentence in found
    assert "m.py:" in found


@pytest.mark.parametrize("name", POOR)
def test_only_what_is_new_counts_wherever_it_is(name):
    rows, _sentence = POOR[name]
    text = function(*rows)
    assert blemishes(text, text) == ()
    assert blemishes(text, f"import os\n\n\n{text}") == ()
    if name != "old code in a comment":
        assert len(blemishes(text, text + text.replace("def f", "def g"))) == 1


def test_new_files_count_and_other_files_do_not():
    text = function("return x", "return y")
    assert len(find_blemishes({"m.py": None}, {"m.py": text})) == 1
    assert find_blemishes({"m.txt": None}, {"m.txt": text}) == ()


def test_a_comment_that_was_there_stays():
    text = function("# value = len(x) + 1", "value = len(x) + 1", "return value")
    assert blemishes(text, text.replace("return value", "return value + 1")) == ()


def test_line_ends_do_not_matter():
    text = function("return x", "return y").replace("\n", "\r\n")
    assert len(find_blemishes({"m.py": ""}, {"m.py": text})) == 1
