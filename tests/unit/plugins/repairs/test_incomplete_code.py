"""Stubs for what a failing test uses and nothing defines."""

from __future__ import annotations

import pytest

from greenloop.plugins.repairs.incomplete_code import find_stubs
from greenloop_sandbox import Failure, Frame


@pytest.mark.parametrize(("message", "names"), [("cannot import name 'f' from 'm'", ["f"]), ("assert 1 == 2", None)])
def test_what_is_missing_gets_a_stub_and_nothing_else(tmp_path, message, names):
    texts = {"m.py": "x = 1\n", "test_m.py": "from m import f\n"}
    for path, text in texts.items():
        (tmp_path / path).write_text(text)
    failure = Failure(type="Error", message=message, frames=(Frame(path="test_m.py", line=1, function="t"),))
    stubs = find_stubs([failure], texts.get, tmp_path, "test_m.py")
    assert (stubs and [region.qualname for region in stubs[1]]) == names
