"""How long the target may run on the unchanged code."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from greenloop.core.deadline import Deadline
from greenloop.localize import target_run
from greenloop_sandbox import Execution, Frame

IN_CODE, IN_LIBRARY = Frame(path="m.py", line=2, function="f"), Frame(path="/usr/lib/time.py", line=1, function="sleep")


@pytest.fixture
def limits(monkeypatch):
    """The limits of the runs when each is cut with the next of these stacks; "done" ends one in time."""

    async def limits(*stacks, longest: float = 120.0, left: float = math.inf) -> list[float]:
        used: list[float] = []

        async def run(_selectors, _stubs, *, trace, seconds=10.0):
            used.append(seconds)
            return Execution(killed="" if stacks[len(used) - 1] == "done" else "timeout")

        def stack(_execution):
            return stacks[len(used) - 1]

        monkeypatch.setattr(target_run, "whole_stack", stack)
        context = SimpleNamespace(
            place=SimpleNamespace(limits=SimpleNamespace(seconds=10.0)),
            settings=SimpleNamespace(sandbox=SimpleNamespace(longest=longest)),
            target=SimpleNamespace(selector="test_m.py::test_f"),
            patterns=None,
            deadline=Deadline(seconds=left, clock=lambda: 0.0),
            run=run,
            report_status=lambda _text: None,
        )
        await target_run._run_target(context, {})
        return used

    return limits


async def test_code_that_hangs_gets_no_more_time(limits):
    assert await limits([IN_CODE]) == [10.0]


async def test_a_slow_test_gets_the_longest_time_at_once(limits):
    assert await limits([IN_LIBRARY], "done") == [10.0, 120.0]


async def test_what_is_unclear_gets_some_more_time_before_the_longest(limits):
    assert await limits([], [IN_CODE]) == [10.0, 50.0]  # a loaded machine: it hangs, as it turns out
    assert await limits([], [IN_LIBRARY], "done") == [10.0, 50.0, 120.0]
    assert await limits([], [], []) == [10.0, 50.0, 120.0]


async def test_no_limit_is_above_the_longest(limits):
    assert await limits([], [], longest=30.0) == [10.0, 30.0]
    assert await limits([IN_LIBRARY], longest=10.0) == [10.0]
    assert await limits([IN_LIBRARY], "done", left=40.0) == [10.0, 40.0]  # the run itself ends then
