"""Failures as they are reported: the name that was meant where one is unknown."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

FAILURES = Path(__file__).resolve().parents[4] / "sandbox" / "greenloop_sandbox" / "inside" / "failures.py"


@pytest.fixture(scope="module")
def failures():
    spec = importlib.util.spec_from_file_location("failures", FAILURES)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Hostile:
    def __dir__(self):
        raise RuntimeError

    def __getattr__(self, name):
        raise AttributeError(name, name=name, obj=self)


@pytest.mark.parametrize(
    ("code", "end"),
    [
        ("''.spilt()", "has no attribute 'spilt'. Did you mean: 'split'?"),
        ("int.__nam__", "has no attribute '__nam__'. Did you mean: '__name__'?"),
        ("result = 1; resutl", "'resutl' is not defined. Did you mean: 'result'?"),
        ("class P:\n  x = 1\n  def f(self): return x\nP().f()", "'x' is not defined. Did you mean: 'self.x'?"),
        ("lenn([])", "'lenn' is not defined. Did you mean: 'len'?"),
        ("_result = 1; resutl", "'resutl' is not defined"),  # a private name is not meant
        ("_result = 1; result", "'result' is not defined. Did you mean: '_result'?"),  # but for its underscores
        ("class P:\n  def __init__(self): self._x = 1\nP().x", "no attribute 'x'. Did you mean: '_x'?"),
        ("''.fold()", "has no attribute 'fold'"),  # nothing is like it
        ("missing_in_every_way", "is not defined"),
        ("def f():\n  x = y; y = 1\nf()", "not associated with a value"),
        ("Hostile().spilt", "spilt"),
        ("{}['keyz']", "'keyz'"),
    ],
)
def test_the_name_that_was_meant(code, end, failures):
    with pytest.raises((AttributeError, NameError, KeyError)) as caught:
        exec(code, {"Hostile": Hostile})
    described = failures.make_describer(str)(caught.value, caught.tb, None, None)
    assert described["message"].endswith(end)
