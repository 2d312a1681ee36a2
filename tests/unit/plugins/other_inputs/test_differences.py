"""Which differences on other inputs are shown."""

from __future__ import annotations

import pytest

from greenloop.plugins.other_inputs.differences import choose_differences
from two_versions import PATH, observed

WRONG = "def f(n):\n    return 2 * n + 1\n"


@pytest.mark.parametrize(
    ("old", "new", "inputs", "shown"),
    [
        (WRONG, "def f(n):\n    return 2 * n\n", [17], ["f(18): old → 37, new → 36", "f(16): old → 33, new → 32", "f(24): old → 49, new → 48"]),
        (
            "def f(n):\n    return n // (n - 3)\n",
            "def f(n):\n    if n > 100:\n        raise ValueError\n    return n / (n - 3) if n != 3 else None\n",
            [6],
            ["f(106): old → 1, new → raises ValueError", "f(3): old → raises ZeroDivisionError, new → None", "f(7): old → 1, new → 1.75"],
        ),
        ("def f(n):\n    raise NotImplementedError\n", "def f(n):\n    return n\n", [17], []),
        ("def f(n):\n    raise NotImplementedError\n", "def f(n):\n    return 5\n", [17], ["f(18): old → raises NotImplementedError, new → 5", "f(16): old → raises NotImplementedError, new → 5"]),
        ("def f(n):\n    raise NotImplementedError\n", "def f(n):\n    return n > 0\n", [17, -3], []),
        ("def f(n):\n    return n > 18\n", "def f(n):\n    return n >= 18\n", [18], []),
        ("def f(x):\n    return x[1]\n", "def f(x):\n    return x.get(1)\n", [{1: 2}], ["f({2: 2}): old → raises KeyError, new → None", "f({}): old → raises KeyError, new → None"]),
    ],
    ids=["values", "errors first, then other types", "not written before", "not written before, and one answer", "yes and no", "the boundary alone", "what failed"],
)  # fmt: skip
def test_differences_that_say_most(old, new, inputs, shown):
    found = [str(each) for each in choose_differences(observed(old, new, inputs))]
    assert found[: len(shown)] == shown
    assert len(found) <= 3
    if not shown:
        assert found == []


def test_a_difference_names_its_line():
    new = "def f(n):\n    n += 0\n    return 2 * n\n"
    assert {(each.path, each.line) for each in choose_differences(observed(WRONG, new, [17]))} == {(PATH, 2)}
