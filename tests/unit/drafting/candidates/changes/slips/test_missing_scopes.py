"""Names that a function assigns, and reads before."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.missing_scopes import missing_scopes

UNBOUND = "cannot access local variable 'n' where it is not associated with a value"
OLD = "local variable 'n' referenced before assignment"


@pytest.mark.parametrize("message", [UNBOUND, OLD])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('def f():\n    "Doc."\n    n += 1\n', [(3, 'def f():\n    "Doc."\n    global n\n    n += 1\n')]),
        (
            "def f():\n    n = 0\n    def g():\n        n += 1\n    return g\n",
            [
                (2, "def f():\n    global n\n    n = 0\n    def g():\n        n += 1\n    return g\n"),
                (4, "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    return g\n"),
            ],
        ),
        ("def f(n):\n    n += 1\n", []),
        (
            "def f(n):\n    def g():\n        n += 1\n",
            [(3, "def f(n):\n    def g():\n        nonlocal n\n        n += 1\n")],
        ),
        ("def f(): n += 1\n", []),
        ("def f(:\n", []),
    ],
)
def test_the_name_is_another_scopes(failing, message, text, wanted):
    assert [(each.line, each.text) for each in missing_scopes(text, failing((message, None, None)))] == wanted


def test_other_failures(failing):
    assert not list(missing_scopes("def f():\n    n += 1\n", failing(("name 'n' is not defined", None, None))))
