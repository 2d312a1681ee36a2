"""The function as the designer sees it."""

from __future__ import annotations

from greenloop.core.records.spec import Region
from greenloop.plugins.written_tests.stub_view import build_stub_view


def test_a_function_that_cannot_be_parsed_has_no_outline():
    assert build_stub_view(Region(path="m.py", qualname="f", start=1, end=2), "def f(:\n    pass\n") is None
