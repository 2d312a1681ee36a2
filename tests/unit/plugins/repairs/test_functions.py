"""What a function returns, and defaults that all its calls share."""

from __future__ import annotations

import pytest

from greenloop.plugins.repairs.functions import missing_return, mutable_defaults


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("def f(x):\n    x * 2\n", [(2, "def f(x):\n    return x * 2\n")]),
        (
            "def f(x):\n    if x:\n        print(x, )\n    else:\n        g(\n            x)\n",
            [
                (3, "def f(x):\n    if x:\n        return x\n    else:\n        return g(\n            x)\n"),
                (3, "def f(x):\n    if x:\n        return print(x, )\n    else:\n        return g(\n            x)\n"),
            ],
        ),
        ("def f(x): x * 2\n", [(1, "def f(x): return x * 2\n")]),
        (
            "    def f(self):\n        é = 1; total = é\n        total += 1\n",
            [
                (3, "    def f(self):\n        é = 1; total = é\n        total += 1\n        return total\n"),
                (3, "    def f(self):\n        é = 1; total = é\n        total += 1\n        return é\n"),
            ],
        ),
        (
            'def f(x):\n    """Doc."""\n    if x:\n        g(x)\n    else:\n        -x\n',
            [(4, 'def f(x):\n    """Doc."""\n    if x:\n        return g(x)\n    else:\n        return -x\n')],
        ),
        (
            "def f(xs):\n    for x in xs:\n        y = x\n\n\n",
            [
                (3, "def f(xs):\n    for x in xs:\n        y = x\n    return y\n\n\n"),
                (3, "def f(xs):\n    for x in xs:\n        y = x\n    return x\n\n\n"),
            ],
        ),
        (
            "def f():\n    def g():\n        return 1\n    h = g\n",
            [
                (4, "def f():\n    def g():\n        return 1\n    h = g\n    return h\n"),
                (4, "def f():\n    def g():\n        return 1\n    h = g\n    return g\n"),
            ],
        ),
    ],
)
def test_what_is_computed_last_is_returned(failing, text, wanted):
    assert [(change.line, change.text) for change in missing_return(text, failing())] == wanted


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    if x:\n        return 1\n    x * 2\n",
        "def f(x):\n    yield x\n",
        'def f(x):\n    """Doc."""\n',
        "def f(x):\n    pass\n",
        "X = 1\n",
        "def f(:\n",
    ],
)
def test_other_code_stays(failing, text):
    assert not list(missing_return(text, failing()))


def test_at_most_four_names_are_tried(failing):
    text = "def f():\n" + "".join(f"    a{n} = {n}\n" for n in range(9))
    assert [change.text.split()[-1] for change in missing_return(text, failing())] == ["a8", "a7", "a6", "a5"]


def test_a_method_returns_its_object_where_nothing_was_returned(failing):
    method = "    def add(self, x):\n        self.x = x\n"
    shown = failing(("'NoneType' object has no attribute 'add'", None, None))
    assert [change.text for change in missing_return(method, shown)] == [f"{method}        return self\n"]
    assert not list(missing_return(method, failing(("'C' object has no attribute 'add'", None, None))))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            'def f(x, items=[]):\n    """Doc."""\n    return items\n',
            'def f(x, items=None):\n    """Doc."""\n    if items is None:\n        items = []\n    return items\n',
        ),
        (
            "    def f(self, *, a: dict[str, int] = {}, b: 'set' = set(), c=1):\n        a, b = b, a\n",
            "    def f(self, *, a: dict[str, int] | None = None, b: 'set' = None, c=1):\n        if a is None:\n            a = {}\n        if b is None:\n            b = set()\n        a, b = b, a\n",
        ),
        (
            "def f(now=time.time()):\n    return now\n",
            "def f(now=None):\n    if now is None:\n        now = time.time()\n    return now\n",
        ),
        ("def f(x=Path('a'), y=re.compile('a')):\n    return x\n", None),
        ("def f(x=()):\n    return x\n", None),
        ("def f(x=[]): return x\n", None),
        ('def f(x=[]):\n    """Doc."""\n', None),
        ("X = []\n", None),
        ("def f(:\n", None),
    ],
)
def test_each_call_makes_its_own(failing, text, wanted):
    assert [change.text for change in mutable_defaults(text, failing())] == ([wanted] if wanted else [])
