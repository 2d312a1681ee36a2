"""Defaults that all calls share."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.mutable_defaults import mutable_defaults


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
