"""Statements of suspected functions through a real wall: what ran."""

from __future__ import annotations

import pytest

from greenloop_sandbox import TestRun, WatchedLines, case_results, forged
from greenloop_sandbox.report.traces import statement_traces

pytestmark = pytest.mark.needs("bubblewrap")

MODULE = """\
import asyncio
import threading


class Total:
    def __init__(self):
        self.parts = []

    def add(self, part):
        self.parts.append(double(part))

    def text(self):
        return "-".join(map(show, self.parts))


def double(part):
    return [part, part]


def show(part):
    return "%d/%d" % tuple(part)


def unrelated(value):
    return Total()


def deep(n):
    return [n] if n == 0 else deep(n - 1)


async def later(value):
    await asyncio.sleep(0)
    return {"value": value}


def endless():
    while True:
        pass


def in_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(double(3)))
    thread.start()
    thread.join()
    return found


def numbers():
    yield 41
    yield 42
"""
LINES = {name: number for number, row in enumerate(MODULE.splitlines(), 1) for name in [row.strip().partition("(")[0]]}


@pytest.fixture
def traced(tmp_path, lay, opened):
    """`traced(statements of the test)`: (the trace of the test, its result)."""

    async def run(*rows: str):
        test = "import asyncio\nimport unittest\nimport m\n\n\ndef test_it():\n" + "".join(
            f"    {row}\n" for row in rows
        )
        session = await opened(lay(tmp_path / "w", {"m.py": MODULE, "test_m.py": test}))
        spans = (WatchedLines(path="m.py", start=1, end=len(MODULE.splitlines())),)
        execution = await session.run(TestRun(selectors=("test_m.py",), statements=spans, seconds=60.0))
        assert (execution.broken, forged(execution)) == ("", "")
        (result,) = case_results(execution)
        return statement_traces(execution)["test_m.py::test_it"], result

    return run


async def test_lines_that_ran(traced):
    found, result = await traced("assert m.Total().text() == 'x'")
    assert not result.passed
    assert found.lines == {"m.py": {LINES["self.parts = []"], LINES['return "-".join']}}


async def test_recursion_that_nearly_fills_the_stack(traced):
    found, result = await traced("assert m.deep(850) == [1]")
    assert result.failure.type == "AssertionError"
    assert found.lines == {"m.py": {LINES["return [n] if n == 0 else deep"]}}


async def test_a_loop_without_end_is_ended(traced):
    found, result = await traced("m.endless()")
    assert result.failure.type == "LineLimitReached"
    assert found.lines == {"m.py": {LINES["while True:"], LINES["pass"]}}
