"""What the lines of a function cost."""

from __future__ import annotations

import sys
import tracemalloc

from inside import load

profiler = load("line_profiler")


def work(count):
    total = 0
    for number in range(count):
        total += sum(range(50_000)) + number
    kept = [0] * 100_000
    return total, kept


def recording(*, memory: bool, **limit: int):
    code = work.__code__
    start = code.co_firstlineno
    found = profiler.LineProfiler({code.co_filename: (0, [(start, start + 5)])}, memory, **limit)
    if memory:
        tracemalloc.start()
    sys.settrace(found.trace_calls)
    try:
        work(20)
    finally:
        sys.settrace(None)
        if memory:
            tracemalloc.stop()
    return {line - start: totals for (_file, line), totals in found.lines.items()}


def test_the_dearest_line_is_the_one_that_calls_most():
    lines = recording(memory=False)
    assert {line: totals[0] for line, totals in lines.items()} == {1: 1, 2: 21, 3: 20, 4: 1, 5: 1}
    assert max(lines, key=lambda line: lines[line][1]) == 3


def test_bytes_belong_to_the_line_that_allocates():
    lines = recording(memory=True)
    assert lines[4][2] >= 800_000 > lines[3][2]


def test_a_case_that_runs_too_many_lines_goes_on_unprofiled():
    assert sum(totals[0] for totals in recording(memory=False, most=10).values()) == 10
