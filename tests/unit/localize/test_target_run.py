"""How long the target may run on the unchanged code."""

from __future__ import annotations

import math
from types import SimpleNamespace

from greenloop.core.deadline import Deadline
from greenloop.localize import target_run
from greenloop_sandbox import Execution

IN_CODE, IN_LIBRARY = '  File "/w/m.py", line 2 in f\n', '  File "/usr/lib/time.py", line 1 in sleep\n'


async def limits(*stacks: str, longest: float = 120.0, left: float = math.inf) -> list[float]:
    """The limits of the runs when each is cut with the next of these stacks; "done" ends one in time."""
    used: list[float] = []

    async def run(_selectors, _stubs, *, trace, seconds=10.0):
        used.append(seconds)
        stack = stacks[len(used) - 1]
        if stack == "done":
            return Execution()
        output = f"Thread 1 (most recent call first):\n{stack}" if stack else ""
        return Execution(killed="timeout", records=({"kind": "start", "root": "/w"},), output=output)

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


async def test_code_that_hangs_gets_no_more_time():
    assert await limits(IN_CODE) == [10.0]


async def test_a_slow_test_gets_the_longest_time_at_once():
    assert await limits(IN_LIBRARY, "done") == [10.0, 120.0]


async def test_what_is_unclear_gets_some_more_time_before_the_longest():
    assert await limits("", IN_CODE) == [10.0, 50.0]  # a loaded machine: it hangs, as it turns out
    assert await limits("", IN_LIBRARY, "done") == [10.0, 50.0, 120.0]
    assert await limits("", "", "") == [10.0, 50.0, 120.0]


async def test_no_limit_is_above_the_longest():
    assert await limits("", "", longest=30.0) == [10.0, 30.0]
    assert await limits(IN_LIBRARY, longest=10.0) == [10.0]
    assert await limits(IN_LIBRARY, "done", left=40.0) == [10.0, 40.0]  # the run itself ends then
