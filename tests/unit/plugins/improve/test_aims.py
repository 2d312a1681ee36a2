"""The goals that make sense for a function."""

from __future__ import annotations

import pytest

from greenloop.plugins.improve import aims


@pytest.mark.parametrize(
    ("code", "options", "chosen"),
    [
        ("def f(): pass", {}, ["time", "memory"]),
        ("def f(): pass  # TODO: less copying", {}, ["comment", "time", "memory"]),
        ("def f(): pass  # a remark", {"spec.constraints": ["typed"]}, ["time", "memory", "limits"]),
    ],
)
def test_goals_of_a_function(code, options, chosen):
    assert aims.choose(code, options) == chosen
