"""Loops over what they change, and iterators that are read more than once."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.iterations import iterations

CHANGED = "dictionary changed size during iteration"


@pytest.mark.parametrize(
    ("body", "message", "wanted"),
    [
        ("for a in x:\n        del x[a]", "", "for a in list(x):\n        del x[a]"),
        ("for a in x.y:\n        x.y.remove(a)", "", "for a in list(x.y):\n        x.y.remove(a)"),
        ("for a in x:\n        y.append(a)", "", None),
        ("for a in x:\n        del a", "", None),
        ("for a in range(3):\n        x.append(a)", "", None),
        ("for a in x.items():\n        g(x)", CHANGED, "for a in list(x.items()):\n        g(x)"),
        ("y = map(f, x)\n    return sum(y) / max(y)", "", "y = list(map(f, x))\n    return sum(y) / max(y)"),
        ("y = (a for a in x)\n    return sum(y) / max(y)", "", "y = [a for a in x]\n    return sum(y) / max(y)"),
        ("y = map(f, x)\n    return sum(y)", "", None),
        ("return zip(x, y)[0]", "'zip' object is not subscriptable", "return list(zip(x, y))[0]"),
        ("return len(x.keys())", "'dict_keys' object is not subscriptable", "return len(list(x.keys()))"),
        ("return len(filter(f, x))", "object of type 'filter' has no len()", "return len(list(filter(f, x)))"),
        ("return len(a for a in x)", "object of type 'generator' has no len()", None),
        ("return (a for a in x)", "'generator' object is not subscriptable", "return [a for a in x]"),
    ],
)
def test_a_list_stands_in_its_place(failing, body, message, wanted):
    head = "def f(x, y):\n    "
    found = iterations(f"{head}{body}\n", failing((message, None, None)))
    assert [change.text for change in found] == ([f"{head}{wanted}\n"] if wanted else [])


@pytest.mark.parametrize("text", ["x = map(f, y)\n", "def f(:\n"])
def test_other_code_stays(failing, text):
    assert not list(iterations(text, failing()))
