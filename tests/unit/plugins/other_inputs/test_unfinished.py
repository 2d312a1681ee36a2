"""Which changes look incomplete, and which honest ones do not; tests/cheats has whole projects."""

from __future__ import annotations

import json

import pytest

from greenloop.plugins.function_calls.changed_functions import ChangedFunction
from greenloop.plugins.other_inputs.other_inputs import Done, Observation
from greenloop.plugins.other_inputs.unfinished import find_unfinished
from greenloop.plugins.other_inputs.varied_inputs import Call

STUB = "def f(year, month):\n    raise NotImplementedError\n"
CACHE = """class Cache:
    def __init__(self, size):
        self.size = size

    def put(self, key):
        pass
"""


def signs(new, old=STUB, observations=(), elsewhere=()):
    return find_unfinished({"m.py": old}, {"m.py": new}, observations, lambda: elsewhere)


@pytest.mark.parametrize(
    ("old", "new", "sign"),
    [
        (STUB, "def f(year, month):\n    return month  # FIXME: leap years\n", "`# FIXME: leap years`, m.py:2"),
        (STUB, "def f(year, month):\n    return month + 1\n", "`f` never reads `year`, m.py:1"),
        (CACHE, CACHE.replace("pass", "self.keys = key"), ""),  # the own code wrote `__init__` so
        ("", CACHE.replace("pass", "self.keys = key"), "`Cache` never reads `size`, m.py:2"),
        ("", CACHE.replace("pass", "self.keys = key, self.size"), ""),
        ("", CACHE.replace("pass", "self.keys = key, vars(self)"), ""),
        ("", CACHE.replace("Cache", "Cache(Base)").replace("pass", "self.keys = key"), ""),
    ],
)
def test_what_the_change_leaves_open_by_its_text(old, new, sign):
    assert [each for each in signs(new, old) if "`Cache.put`" not in each][:1] == ([sign] if sign else [])


def test_what_another_file_reads_is_not_left_open():
    new = CACHE.replace("pass", "self.keys = key")
    assert signs(new, "", elsewhere=["cache.size"]) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "def f(year, month):\n    return month\n",
            "def f(year, month):\n    return month + 1\n",
        ),  # the user's own design
        (STUB, "@hook\ndef f(year, month):\n    return month\n"),
        (STUB, "def f(year, month):\n    return month\n\nHOOKS = [f]\n"),
        (STUB, "def f(year, month):\n    return locals()\n"),
        (STUB, "def f(_year, month):\n    return month\n"),
        (STUB, "def f(year, month):\n    '''Later.'''\n"),
        ("", "class A:\n    def f(self, x):\n        return 1\n\nclass B:\n    def f(self, x):\n        return x\n"),
        ("X = 1  # TODO: more\n", "X = 2  # TODO: more\n"),
        (STUB, "BASE = 5  # TODO: from the list\n\ndef f(year, month):\n    return year, month\n"),
        (STUB, "def f(:\n"),
    ],
)
def test_honest_code_may_look_like_this(old, new):
    assert signs(new, old) == ()


def described(words, body):
    head = f'def f(text):\n    """{words}"""\n    '
    return signs(f"{head}{body}\n", f"{head}return text\n")


@pytest.mark.parametrize(
    ("words", "body", "lacks"),
    [
        ("`&`, `<` and `>` as `&amp;`, `&lt;` and `&gt;`.", 'return text.replace("<", "&lt;")', ">, &amp;, &gt;"),
        ("Ends in -ch, -sh or -x.", 'return text.endswith("x")', "ch, sh"),
        ('{"items": [...], "next": number}', 'return text["items"]', "next"),
        ("The area of a circle, a square or a triangle.", 'return text == "circle"', "square, triangle"),
        ("`asc` or `desc`.", 'return text == "asc"', ""),  # `else` stands for the other one
        ("`a`, `b` or `c`.", "return text", ""),  # it has none of them: they may be examples
        ("`None`, `m.f(x)` or `KeyError` for `x`.", 'return text + "x"', ""),
        ("An `a`.\n\n`b` and `c`, once.", 'return text + "a"', ""),  # only the first paragraph counts
    ],
)
def test_a_list_of_which_only_a_part_is_in_the_code(words, body, lacks):
    shown = ", ".join(f"`{each}`" for each in lacks.split(", "))
    assert described(words, body) == ((f"`f` lacks {shown} of its description, m.py:1",) if lacks else ())


def observe(number, old, new, *, is_tested=False):
    def done(value):
        if isinstance(value, str):
            return Done(kind="raises", trees=json.dumps([value]))
        return Done(kind="returns", trees=json.dumps([value, None, ""]))

    function = ChangedFunction(path="m.py", qualname="f", start=1, end=2, line=2)
    call = Call(function=0, positional=(number,))
    return Observation(
        function=function, call=call, old=done(old), new=done(new), is_tested=is_tested, is_near=not is_tested
    )


NEW = "def f(n):\n    return {1: 2000, 2: 12000}.get(n, 16000)\n"
OWN = "def f(n):\n    return n * 20\n"


@pytest.mark.parametrize(
    ("old", "new", "sign"),
    [
        ("ValueError", lambda n: 2000, "`f` answers 14 other inputs alike, m.py:1"),
        ("ValueError", lambda n: n + 700, ""),
        ("ValueError", lambda n: 1, ""),  # a small value may be right for everything
        ("ValueError", lambda n: ["object", "m", "Speed", []], ""),  # a number of its own class holds more than is seen
        (None, lambda n: (2000, 12000, 16000)[n % 3], "gives only values that are written in it"),
        (None, lambda n: n * 21, ""),
    ],
)
def test_what_the_change_leaves_open_by_what_it_does(old, new, sign):
    others = [observe(n, old or n * 20, new(n)) for n in range(40, 54)]
    found = signs(NEW, OWN, [observe(30, old or 600, new(42) if old else 2000, is_tested=True), *others])
    assert bool(found) == bool(sign)
    assert not sign or sign in found[0]


@pytest.mark.parametrize(("raised", "lacks"), [("ValueError", False), (7, True)])
def test_an_error_that_the_description_promises_and_nothing_raises(raised, lacks):
    words = 'def f(n):\n    """A state. Raises `ValueError` for others."""\n    return '
    seen = [observe(n, n, raised) for n in range(40, 54)]
    assert bool(signs(f"{words}n + 1\n", f"{words}n\n", seen)) == lacks
