"""Names that a module lacks when it is imported."""

from __future__ import annotations

import pytest

from greenloop.core.python.names import undefined_at_import


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f():\n    return later\n", set()),
        ("x = first\n", {"first"}),
        ("@mark\ndef f(a: Kind = default) -> Other:\n    return later\n", {"mark", "Kind", "default", "Other"}),
        ("from __future__ import annotations\n\n\ndef f(a: Kind): ...\n", set()),
        ("class A(Base):\n    n = field()\n\n    def f(self):\n        return later\n", {"Base", "field"}),
        ("import first\n\nx = first\n", set()),
        ("from other import *\n\nx = first\n", set()),
        ("x = (\n", set()),
    ],
)
def test_names_that_are_looked_up_at_import(text, names):
    assert undefined_at_import(text) == names
