"""Statements of suspected functions through a real wall: what ran, and who produced the compared value."""

from __future__ import annotations

import pytest

from greenloop_sandbox import SuspectedLines, TestRun, WatchedLines, case_results, forged
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
        wanted = SuspectedLines(lines=spans, failing=("test_m.py::test_it",))
        execution = await session.run(TestRun(selectors=("test_m.py",), statements=wanted, seconds=60.0))
        assert (execution.broken, forged(execution)) == ("", "")
        (result,) = case_results(execution)
        return statement_traces(execution)["test_m.py::test_it"], result

    return run


def produced(trace) -> dict[str, float]:
    names = {line: name.removeprefix("async ").removeprefix("def ") for name, line in LINES.items()}
    return {names[line]: weight for (_path, line), weight in trace.produced.items()}


async def test_lines_that_ran(traced):
    found, result = await traced("assert m.Total().text() == 'x'")
    assert not result.passed
    assert found.lines == {"m.py": {LINES["self.parts = []"], LINES['return "-".join']}}


@pytest.mark.parametrize(
    ("rows", "most", "also", "never"),
    [
        (
            ("t = m.Total()", "t.add(2)", "m.unrelated(1)", "assert t.text() == '2-2'"),
            {"text", "show"},
            {"add", "__init__", "double"},
            {"unrelated"},
        ),
        (("t = m.Total()", "t.add(2)", "assert t.parts == [[1, 2]]"), {"double"}, {"add"}, {"show", "text"}),
        (("m.unrelated(1)", "assert m.double(2) is None"), {"double"}, set(), {"unrelated"}),
        (("assert asyncio.run(m.later(1)) == {'value': 2}",), {"later"}, set(), {"double"}),
        (("assert m.in_thread() == [[3, 4]]",), {"in_thread"}, {"double"}, {"unrelated"}),
        (("unittest.TestCase().assertEqual(m.double(2), [2, 4])",), {"double"}, set(), {"unrelated"}),
        (("assert sum(m.numbers()) == 42",), set(), set(), {"double"}),
    ],
)
async def test_who_produced_the_compared_value(traced, rows, most, also, never):
    found, result = await traced(*rows)
    assert not result.passed
    weights = produced(found)
    assert {name for name, weight in weights.items() if weight == max(weights.values())} >= most
    assert also <= set(weights)
    assert not never & set(weights)


async def test_recursion_that_nearly_fills_the_stack(traced):
    found, result = await traced("assert m.deep(850) == [1]")
    assert result.failure.type == "AssertionError"
    assert produced(found)["deep"] == 1.0


async def test_a_loop_without_end_is_ended(traced):
    found, result = await traced("m.endless()")
    assert result.failure.type == "EnoughSeen"
    assert found.lines == {"m.py": {LINES["while True:"], LINES["pass"]}}
