"""Lambdas that are made in a loop."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.late_binding import late_binding


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("return [lambda x: x + i for i in r]", "return [lambda x, i=i: x + i for i in r]"),
        ("return [lambda: i for i in r]", "return [lambda i=i: i for i in r]"),
        ("return {k: lambda x, y=1: k + v for k, v in r}", "return {k: lambda x, y=1, k=k, v=v: k + v for k, v in r}"),
        ("for i in r: a.append(lambda: i)", "for i in r: a.append(lambda i=i: i)"),
        ("return [[lambda: i + j for i in r] for j in r]", "return [[lambda i=i, j=j: i + j for i in r] for j in r]"),
        ("return [lambda i: i for i in r]", None),
        ("return [lambda *a: i for i in r]", None),
        ("return [f(x) for x in r]", None),
        ("return lambda: r", None),
        ("return (", None),
    ],
)
def test_each_keeps_its_own_value(failing, body, wanted):
    changes = [change.text for change in late_binding(f"def f(r):\n    {body}\n", failing())]
    assert changes == ([f"def f(r):\n    {wanted}\n"] if wanted else [])
