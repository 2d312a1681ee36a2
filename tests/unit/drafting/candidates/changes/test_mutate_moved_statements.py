"""Statements one level further out or in."""

from __future__ import annotations

import pytest

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.changes.mutate import moved_statements

FAILED = Attempt(number=0, verdict=Verdict(status=Status.FAILED))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "def f(xs):\n    for x in xs:\n        t += x\n        return t\n",
            [(4, "def f(xs):\n    for x in xs:\n        t += x\n    return t\n")],
        ),
        (
            "    def f(xs):\n        for x in xs:\n            t += x\n        n += 1\n        return t\n",
            [(4, "    def f(xs):\n        for x in xs:\n            t += x\n            n += 1\n        return t\n")],
        ),
        ("def f(a, b):\n    a.go()\n    b.go()\n", []),
        (
            "def f(x):\n    if x:\n        g()\n    else:\n        h()\n        i()\n    j()\n",
            [
                (6, "def f(x):\n    if x:\n        g()\n    else:\n        h()\n    i()\n    j()\n"),
                (7, "def f(x):\n    if x:\n        g()\n    else:\n        h()\n        i()\n        j()\n"),
            ],
        ),
        ("def f(xs):\n    for x in xs: g()\n    return x\n", []),
        ("def f(xs):\n    for x in xs:\n        g(x)\n    return (\n        x)\n", []),
        ("def f(x):\n    try:\n        g(); h()\n    finally:\n        i()\n", []),
        ("def f(:\n", []),
        ("X = 1\n", []),
    ],
)
def test_one_statement_is_moved(text, wanted):
    assert [(change.line, change.text) for change in moved_statements(text, FAILED)] == wanted
