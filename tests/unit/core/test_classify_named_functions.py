"""Functions that a failure names."""

from __future__ import annotations

import pytest

from greenloop.core.classify import named_functions
from greenloop_sandbox import Failure


@pytest.mark.parametrize(
    ("kind", "message", "observed", "wanted"),
    [
        ("TypeError", "g() takes 0 positional arguments but 1 was given", None, ["g"]),
        ("TypeError", "C.f() missing 1 required positional argument: 'x'", None, ["C.f"]),
        ("TypeError", "C.f() got an unexpected keyword argument 'x'", None, ["C.f"]),
        ("AssertionError", "assert <bound method C.f of <m.C object at 0x7>> == 1", None, ["C.f"]),
        ("AssertionError", "", "<function g at 0x7>", ["g"]),
        ("AssertionError", "", "[<coroutine object C.f at 0x7>, <generator object g at 0x8>]", ["C.f", "g"]),
        ("ValueError", "g() takes 0 positional arguments but 1 was given", None, []),
        ("TypeError", "'int' object is not callable", None, []),
        ("AssertionError", "assert 1 == 2\n +  where 1 = <bound method C.f of <m.C object at 0x7>>()", "1", []),
        ("AssertionError", "assert 1 == 2\n +  where 1 = apply(<function g at 0x7>)", "1", []),
    ],
)
def test_the_names(kind, message, observed, wanted):
    assert named_functions([Failure(type=kind, message=message, observed=observed), None]) == wanted
